#include "deviceplugin/signaller/follower.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>

#include "tests/unit/turn/plain_memory.h"

namespace crossover::signaller {
namespace {

using turn::FirstStretch;
using turn::SlotSet;
using turn::Word;
using turn::test::PlainMemory;

constexpr turn::Time kMs = base::kNsPerMs;

constexpr SlotSet kAll((1u << turn::kMaxSlots) - 1);

SlotSet Only(turn::SlotIndex slot) { return SlotSet(1u << slot); }

TEST(Follower, SignalsAClientOnceItsGateIsOpen) {
  PlainMemory page;
  Follower follower;
  page.Ask(3, 1);
  EXPECT_EQ(follower.Look(page, 0), SlotSet());
  page.Set(3, Word::kGate, FirstStretch(1));
  EXPECT_EQ(follower.Look(page, kMs), Only(3));
  EXPECT_EQ(follower.Look(page, kMs + 1), SlotSet()) << "it has just been signalled";
}

TEST(Follower, SignalsATokenThatIsParkedForAnAbsentClient) {
  PlainMemory page;
  Follower follower;
  page.Set(5, Word::kGate, FirstStretch(1));
  EXPECT_EQ(follower.Look(page, 0), Only(5));
}

TEST(Follower, SignalsTheNextOpeningAtOnce) {
  PlainMemory page;
  Follower follower;
  page.Ask(0, 1);
  page.Set(0, Word::kGate, FirstStretch(1));
  EXPECT_EQ(follower.Look(page, 0), Only(0));
  ASSERT_TRUE(page.Enter(0, 1));
  page.Leave(0, 0);
  page.Ask(0, 2);
  EXPECT_EQ(follower.Look(page, 1), Only(0));
}

// A signal may be lost after it was written: what does not change is signalled again, ever more seldom.
TEST(Follower, SignalsAgainEverMoreSeldom) {
  PlainMemory page;
  Follower follower;
  page.Ask(1, 1);
  page.Set(1, Word::kGate, FirstStretch(1));
  int signals = 0;
  turn::Time last = 0;
  turn::Time longest = 0;
  for (turn::Time now = 0; now <= 1000 * kMs; now += kMs) {
    if (!follower.Look(page, now).Has(1)) continue;
    longest = std::max(longest, now - last);
    last = now;
    ++signals;
  }
  EXPECT_EQ(longest, kLongestRepeat);
  EXPECT_GT(last, 1000 * kMs - kLongestRepeat);
  EXPECT_LT(signals, 30);
}

// Words that a hostile client writes say that no stream of slot 1 waits.
TEST(Follower, SignalsAllOnceASecondWhateverTheWordsSay) {
  PlainMemory page;
  Follower follower;
  page.Set(1, Word::kReady, FirstStretch(9));
  page.Set(1, Word::kHold, FirstStretch(9));
  int all = 0;
  for (turn::Time now = 0; now <= 3500 * kMs; now += 20 * kMs) {
    const SlotSet signals = follower.Look(page, now);
    if (signals == kAll) {
      ++all;
    } else {
      EXPECT_EQ(signals, SlotSet());
    }
  }
  EXPECT_EQ(all, 3);
  EXPECT_EQ(follower.again(), 0) << "they are not late";
}

// A client that was killed while its stream waited leaves its words as they were.
TEST(Follower, AClientThatHasGoneDoesNotCount) {
  PlainMemory page;
  page.Ask(1, 1);
  page.Set(1, Word::kGate, FirstStretch(1));
  int again = 0;
  const auto look_for = [&](const Presence& presence) {
    Follower follower;
    again = 0;
    for (turn::Time now = 0; now <= 900 * kMs; now += kMs) {
      follower.Look(page, now, presence);
      again += follower.again();
    }
    return follower.busy();
  };
  EXPECT_TRUE(look_for({.living = Only(1)}));
  EXPECT_GT(again, 10) << "the control: it is there, and its signals get lost";
  EXPECT_FALSE(look_for({.living = Only(0), .killed = Only(1)}));
  EXPECT_EQ(again, 0);
  EXPECT_TRUE(look_for({.living = Only(0)})) << "it has let go, and its streams may wait";
  EXPECT_EQ(again, 0);
}

TEST(Follower, OneThatStartsOverSignalsAtOnce) {
  PlainMemory page;
  page.Ask(1, 1);
  page.Set(1, Word::kGate, FirstStretch(1));
  EXPECT_EQ(Follower().Look(page, 0), Only(1));
  EXPECT_EQ(Follower().Look(page, 0), Only(1));
}

TEST(Follower, LooksOftenWhileAClientWaitsAndSeldomWhenNoneDoes) {
  PlainMemory page;
  Follower follower;
  follower.Look(page, 0);
  EXPECT_EQ(follower.period(), kIdlePeriod);
  page.Ask(2, 1);
  follower.Look(page, 1);
  EXPECT_EQ(follower.period(), kLookPeriod);
  EXPECT_EQ(follower.gate(2), 0u);
  page.Set(2, Word::kGate, FirstStretch(1));
  follower.Look(page, 2);
  EXPECT_EQ(follower.gate(2), FirstStretch(1));
  ASSERT_TRUE(page.Enter(2, 1));
  follower.Look(page, 3);
  EXPECT_EQ(follower.period(), kLookPeriod) << "the page is in use";
  follower.Look(page, 3 + kActiveFor);
  EXPECT_EQ(follower.period(), kIdlePeriod) << "the turn is a long one";
}

// A slot whose gate lets its client in is signalled within kLongestRepeat, in any state that clients write.
TEST(Follower, NoDueSlotIsForgotten) {
  PlainMemory page;
  Follower follower;
  std::mt19937 random(5);
  turn::Time signalled[turn::kMaxSlots] = {};
  bool due_before[turn::kMaxSlots] = {};
  for (turn::Time now = 0; now < 20'000 * kMs; now += kMs) {
    if (random() % 8 == 0) {
      const Word word = std::array{Word::kReady, Word::kHold, Word::kGate}[random() % 3];
      const auto slot = static_cast<turn::SlotIndex>(random() % turn::kMaxSlots);
      page.Set(slot, word, static_cast<std::uint32_t>((random() % 4) << 10 | random() % 2));
    }
    const SlotSet signals = follower.Look(page, now);
    const bool all = signals == kAll;
    for (turn::SlotIndex slot = 0; slot < turn::kMaxSlots; ++slot) {
      const bool due = IsDue(turn::ViewGate(page, slot));
      if (signals.Has(slot)) {
        EXPECT_TRUE(due || all);
        signalled[slot] = now;
      }
      EXPECT_TRUE(!due || due_before[slot] || signalled[slot] == now);
      EXPECT_TRUE(!due || now - signalled[slot] <= kLongestRepeat);
      due_before[slot] = due;
    }
  }
}

}  // namespace
}  // namespace crossover::signaller

#include "deviceplugin/metrics/charges.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "proto/turnstile.h"
#include "tests/unit/deviceplugin/made_member.h"

namespace crossover::deviceplugin {
namespace {

using arbiter::EventKind;

constexpr turn::Time kMs = 1'000'000;

class ChargesTest : public ::testing::Test {
 protected:
  using Client = std::shared_ptr<const arbiter::Member>;

  Client Join(const std::string& gang, turn::Time at, const std::string& uuid = "GPU-0") {
    const Client member = arbiter::MadeMember(++last_id_, gang, uuid);
    Tell(EventKind::kJoin, member, at);
    return member;
  }
  void Tell(EventKind kind, const Client& client, turn::Time at, std::uint32_t mode = 0) {
    charges_.OnEvent(
        {.kind = kind, .at = at, .gpu = client->gpu, .member = client, .duration = 0, .mode = mode});
  }
  turn::Time Of(const std::string& gang, const std::string& uuid = "GPU-0") const {
    const auto charged = charges_.Charged();
    const auto found = charged.find({uuid, "", gang});
    return found == charged.end() ? -1 : found->second;
  }

  Charges charges_;
  std::uint64_t last_id_ = 0;
};

TEST_F(ChargesTest, ATurnIsChargedToWhoHoldsItAndTheRestToAllEqually) {
  const Client a = Join("a", 0);
  const Client b = Join("b", 0);
  Tell(EventKind::kHold, a, 10 * kMs);
  Tell(EventKind::kRelease, a, 30 * kMs);
  Tell(EventKind::kHold, b, 34 * kMs);
  charges_.Advance(40 * kMs);
  EXPECT_EQ(Of("a"), (5 + 20 + 2) * kMs);
  EXPECT_EQ(Of("b"), (5 + 2 + 6) * kMs);
}

TEST_F(ChargesTest, WhoIsAloneIsChargedForAllOfIt) {
  const Client a = Join("a", 5 * kMs);
  charges_.Advance(25 * kMs);
  EXPECT_EQ(Of("a"), 20 * kMs);
  EXPECT_EQ(Of("b"), -1);
}

TEST_F(ChargesTest, ATurnThatIsKeptTooLongIsChargedNoFurther) {
  const Client a = Join("a", 0);
  const Client b = Join("b", 0);
  Tell(EventKind::kHold, a, 0);
  Tell(EventKind::kOpen, a, 200 * kMs);
  Tell(EventKind::kHold, b, 200 * kMs);
  charges_.Advance(300 * kMs);
  EXPECT_EQ(Of("a"), 200 * kMs);
  EXPECT_EQ(Of("b"), 100 * kMs);
}

TEST_F(ChargesTest, SideBySideIsSharedEqually) {
  const Client a = Join("a", 0);
  const Client b = Join("b", 0);
  Tell(EventKind::kHold, a, 0);
  Tell(EventKind::kMode, a, 10 * kMs, CROSSOVER_MODE_OBSERVE);
  charges_.Advance(30 * kMs);
  EXPECT_EQ(Of("a"), 20 * kMs);
  EXPECT_EQ(Of("b"), 10 * kMs);
}

TEST_F(ChargesTest, WhatComesLateChangesNothingThatWasCharged) {
  const Client a = Join("a", 0);
  const Client b = Join("b", 0);
  charges_.Advance(100 * kMs);
  Tell(EventKind::kHold, a, 50 * kMs);
  charges_.Advance(110 * kMs);
  EXPECT_EQ(Of("a"), 60 * kMs);
  EXPECT_EQ(Of("b"), 50 * kMs);
}

TEST_F(ChargesTest, AJobThatHasLeftIsShownForAWhile) {
  Tell(EventKind::kLeave, Join("a", 0), 10 * kMs);
  charges_.Advance(Charges::kKept);
  EXPECT_EQ(Of("a"), 10 * kMs);
  charges_.Advance(2 * Charges::kKept);
  EXPECT_EQ(Of("a"), -1);
}

TEST_F(ChargesTest, JobsThatComeAndGoWithoutEndTakeNoMoreRoom) {
  const Client stays = Join("stays", 0);
  for (std::size_t i = 0; i < 2 * Charges::kMost; ++i) {
    Tell(EventKind::kLeave, Join("job" + std::to_string(i), kMs), kMs);
  }
  EXPECT_LE(charges_.Charged().size(), Charges::kMost);
  EXPECT_NE(Of("stays"), -1);
}

// The charges sum up to the time in which there was a client, except for rounding. They are never more than
// the time that has passed.
TEST_F(ChargesTest, NeverMoreThanTheTimeThatPassed) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    charges_ = Charges();
    std::mt19937 draw(seed);
    std::vector<Client> clients;
    turn::Time now = 0, begun = 0;
    const auto sum = [this] {
      turn::Time all = 0;
      for (const auto& [job, charged] : charges_.Charged()) all += charged;
      return all;
    };
    turn::Time occupied = 0;
    for (int step = 0; step < 2000; ++step) {
      const turn::Time before = now;
      now += static_cast<turn::Time>(draw() % 5'000'000);
      if (!clients.empty()) occupied += now - before;
      const unsigned what = draw() % 8;
      if (clients.empty() || (what == 0 && clients.size() < 5)) {
        clients.push_back(Join("gang" + std::to_string(draw() % 4), now));
        continue;
      }
      const std::size_t who = draw() % clients.size();
      constexpr EventKind kKinds[] = {EventKind::kHold, EventKind::kRelease, EventKind::kOpen,
                                      EventKind::kMode, EventKind::kHold,    EventKind::kRelease,
                                      EventKind::kStep, EventKind::kLeave};
      Tell(kKinds[what], clients[who], now, static_cast<std::uint32_t>(draw() % 3));
      if (kKinds[what] == EventKind::kLeave)
        clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(who));
    }
    charges_.Advance(now);
    EXPECT_LE(sum(), now - begun) << seed;
    EXPECT_NEAR(static_cast<double>(sum()), static_cast<double>(occupied), 2000 * 5) << seed;
  }
}

}  // namespace
}  // namespace crossover::deviceplugin

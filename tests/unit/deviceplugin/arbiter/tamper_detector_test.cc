#include "deviceplugin/arbiter/tamper_detector.h"

#include <gtest/gtest.h>

namespace crossover::arbiter {
namespace {

class TamperDetectorTest : public ::testing::Test {
 protected:
  TamperDetectorTest() : page_(Page::Create(&error_)), guard_(*page_) {
    members_.Add(3);
    page_->ResetSlot(3);
    guard_.Reset(3);
  }

  // Looks at the page `times` times, 10 ms apart. Returns whether the guard has found damage.
  bool Look(int times = 1) {
    for (int i = 0; i < times; ++i) guard_.Look(members_, now_ += 10 * base::kNsPerMs);
    return guard_.damaged();
  }
  crossover_slot& slot() { return page_->slot(3); }

  std::string error_;
  std::unique_ptr<Page> page_;
  TamperDetector guard_;
  turn::SlotSet members_;
  turn::Time now_ = 0;
};

TEST_F(TamperDetectorTest, WhatClientsWriteIsNoDamage) {
  for (std::uint32_t k = 1; k < 100; ++k) {
    slot().ready = slot().hold = slot().rel = k << CROSSOVER_STRETCH_BITS;
    slot().gate = 0xffffffffu - k;
    for (std::uint32_t* word :
         {&slot().alive, &slot().phase, &slot().faults, &slot().heartbeat, &slot().turns,
          &slot().turn_launches, &slot().iteration_offset, &slot().periods, &slot().iteration,
          &slot().turns_last, &slot().watch_reason, &slot().memory_budget_mib, &slot().memory_used_mib,
          &slot().memory_refusals}) {
      *word = ~k;
    }
    page_->get()->arbiter_beat += 7;
    guard_.Store(slot().mode, k % 3);
    guard_.Store(slot().successor[1], k % 5);
    ASSERT_FALSE(Look()) << k;
  }
}

TEST_F(TamperDetectorTest, CountersWrap) {
  for (std::uint32_t k : {0u, 0x40000000u, 0x80000000u, 0xc0000000u, 0x3fffffffu}) {
    slot().ready = slot().hold = slot().rel = k;
    EXPECT_FALSE(Look());
  }
}

TEST_F(TamperDetectorTest, AWordThatOnlyTheArbiterWrites) {
  guard_.Store(slot().mode, CROSSOVER_MODE_GATE);
  slot().mode = CROSSOVER_MODE_OFF;
  guard_.Store(slot().mode, CROSSOVER_MODE_GATE);
  EXPECT_TRUE(guard_.damaged());
  EXPECT_EQ(guard_.evidence(), "at byte 1152 stands 0 where 0x2 belongs");
  EXPECT_EQ(slot().mode, static_cast<std::uint32_t>(CROSSOVER_MODE_GATE)) << "it is mended all the same";
}

TEST_F(TamperDetectorTest, AWordThatIsNeverWritten) {
  EXPECT_EQ(guard_.evidence(), "");
  page_->slot(9).reserved1[4] = 1;  // also of a slot that no client has
  EXPECT_TRUE(Look());
}

TEST_F(TamperDetectorTest, TheHeader) {
  page_->get()->version = 0;
  EXPECT_TRUE(Look());
}

TEST_F(TamperDetectorTest, ACounterThatGoesBackAgainAndAgain) {
  const auto go_back = [this](std::uint32_t from) {
    slot().rel = from;
    Look();
    slot().rel = from - 1;
    return Look();
  };
  slot().rel = 1000;
  EXPECT_FALSE(go_back(2000));
  EXPECT_FALSE(go_back(3000));
  EXPECT_TRUE(go_back(4000));
}

TEST_F(TamperDetectorTest, ALateStoreNowAndThenIsNone) {
  for (std::uint32_t k = 1; k < 10; ++k) {
    slot().rel = 1000 * k;
    Look();
    slot().rel = 1000 * k - 1;
    EXPECT_FALSE(Look(150)) << k;  // more than a second
  }
}

TEST_F(TamperDetectorTest, ANewcomersCountersBeginAnew) {
  for (int i = 0; i < 10; ++i) {
    slot().ready = slot().hold = slot().rel = 5000;
    Look();
    page_->ResetSlot(3);
    guard_.Reset(3);
    EXPECT_FALSE(Look());
  }
}

}  // namespace
}  // namespace crossover::arbiter

#include "deviceplugin/arbiter/liveness.h"

#include <gtest/gtest.h>
#include <linux/futex.h>

#include <future>
#include <mutex>

#include "common/base/futex.h"

namespace crossover::arbiter {
namespace {

TEST(AliveWordTest, OnlyWhatAKernelOrAnOwnerWritesIsBelieved) {
  EXPECT_EQ(ReadAliveWord(0), AliveWord::kUnowned);
  EXPECT_EQ(ReadAliveWord(1234), AliveWord::kOwned);
  EXPECT_EQ(ReadAliveWord(1234 | FUTEX_WAITERS), AliveWord::kOwned);
  EXPECT_EQ(ReadAliveWord(FUTEX_OWNER_DIED), AliveWord::kDead);
  EXPECT_EQ(ReadAliveWord(FUTEX_OWNER_DIED | FUTEX_WAITERS), AliveWord::kDead);
  EXPECT_EQ(ReadAliveWord(FUTEX_OWNER_DIED | 1234), AliveWord::kGarbage);
  EXPECT_EQ(ReadAliveWord(FUTEX_WAITERS), AliveWord::kGarbage);
  EXPECT_EQ(ReadAliveWord(0xffffffffu), AliveWord::kGarbage);
}

class LivenessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    page_ = Page::Create(&error);
    ASSERT_NE(page_, nullptr) << error;
    liveness_ = std::make_unique<Liveness>(*page_, [this](std::uint64_t id) { dead_.set_value(id); });
  }
  void Write(turn::SlotIndex slot, std::uint32_t word) {
    Atomic(page_->slot(slot).alive).store(word);
    base::FutexWakeAll(&page_->slot(slot).alive);
  }
  // Waits until the watcher has set its mark on an owned word.
  void AwaitMark(turn::SlotIndex slot) {
    while ((Atomic(page_->slot(slot).alive).load() & FUTEX_WAITERS) == 0) std::this_thread::yield();
  }

  std::unique_ptr<Page> page_;
  std::promise<std::uint64_t> dead_;
  std::unique_ptr<Liveness> liveness_;
};

TEST_F(LivenessTest, MarksAnOwnedWordAndSeesItsOwnerDie) {
  liveness_->Watch(2, 77);
  Write(2, 4321);
  AwaitMark(2);
  Write(2, FUTEX_OWNER_DIED | FUTEX_WAITERS);
  EXPECT_EQ(dead_.get_future().get(), 77u);
}

TEST_F(LivenessTest, SeesADeathThatCameBeforeTheWatch) {
  Write(0, FUTEX_OWNER_DIED);
  liveness_->Watch(0, 5);
  EXPECT_EQ(dead_.get_future().get(), 5u);
}

TEST_F(LivenessTest, SeesAnOwnerThatWakesNone) {
  liveness_->Watch(1, 9);
  Atomic(page_->slot(1).alive).store(1000);
  AwaitMark(1);
}

TEST_F(LivenessTest, GarbageIsNotADeathAndAnUnwatchedSlotIsLeftAlone) {
  liveness_->Watch(0, 1);
  liveness_->Watch(1, 2);
  liveness_->Watch(2, 3);
  Write(0, 0xffffffffu);
  liveness_->Unwatch(1);
  Write(1, FUTEX_OWNER_DIED);
  Write(2, FUTEX_OWNER_DIED);  // a promise can be kept once only: another report would throw
  EXPECT_EQ(dead_.get_future().get(), 3u);
}

TEST_F(LivenessTest, EndsWhileItWaits) {
  liveness_->Watch(0, 1);
  Write(0, 4321);
  AwaitMark(0);
  liveness_.reset();
}

}  // namespace
}  // namespace crossover::arbiter

#include "deviceplugin/arbiter/page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/base/futex.h"

namespace crossover::arbiter {
namespace {

class PageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    page_ = Page::Create(&error);
    ASSERT_NE(page_, nullptr) << error;
  }
  std::unique_ptr<Page> page_;
};

TEST_F(PageTest, SaysWhatItIs) {
  EXPECT_EQ(page_->get()->magic, CROSSOVER_TURNSTILE_MAGIC);
  EXPECT_EQ(page_->get()->version, CROSSOVER_TURNSTILE_VERSION);
  EXPECT_EQ(page_->get()->bytes, sizeof(crossover_page));
  EXPECT_EQ(page_->get()->clients, static_cast<std::uint32_t>(CROSSOVER_MAX_CLIENTS));
}

TEST_F(PageTest, CanNeitherShrinkNorGrowNorBeUnsealed) {
  EXPECT_EQ(fcntl(page_->fd(), F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  EXPECT_NE(ftruncate(page_->fd(), 0), 0);
  EXPECT_NE(ftruncate(page_->fd(), 2 * CROSSOVER_PAGE_BYTES), 0);
  EXPECT_NE(fcntl(page_->fd(), F_ADD_SEALS, F_SEAL_WRITE), 0);
}

TEST_F(PageTest, MemoryNamesTheWordsOfASlot) {
  const PageMemory memory(*page_);
  crossover_slot& slot = page_->slot(3);
  slot.ready = 1;
  slot.hold = 2;
  slot.rel = 3;
  slot.gate = 4;
  EXPECT_EQ(memory.Load(3, turn::Word::kReady), 1u);
  EXPECT_EQ(memory.Load(3, turn::Word::kHold), 2u);
  EXPECT_EQ(memory.Load(3, turn::Word::kRel), 3u);
  EXPECT_EQ(memory.Load(3, turn::Word::kGate), 4u);
  EXPECT_EQ(memory.Load(2, turn::Word::kGate), 0u);
}

TEST_F(PageTest, AGateIsSwappedOnlyFromWhatWasSeen) {
  const PageMemory memory(*page_);
  EXPECT_FALSE(memory.SwapGate(0, 5, 9));
  EXPECT_EQ(page_->slot(0).gate, 0u);
  EXPECT_TRUE(memory.SwapGate(0, 0, 9));
  EXPECT_EQ(page_->slot(0).gate, 9u);
}

TEST_F(PageTest, ASlotIsResetWholeAndNoOther) {
  for (turn::SlotIndex i : {4u, 5u, 6u}) {
    auto* words = reinterpret_cast<std::uint32_t*>(&page_->slot(i));
    for (std::size_t w = 0; w < sizeof(crossover_slot) / 4; ++w) words[w] = 77;
  }
  page_->ResetSlot(5);
  const crossover_slot& slot = page_->slot(5);
  EXPECT_EQ(slot.ready | slot.hold | slot.rel | slot.gate, 0u);
  EXPECT_EQ(slot.mode | slot.successor[0] | slot.turns, 0u);
  EXPECT_EQ(slot.alive | slot.phase | slot.faults | slot.heartbeat | slot.periods, 0u);
  EXPECT_EQ(slot.watch_reason | slot.memory_budget_mib | slot.memory_used_mib | slot.memory_refusals, 0u);
  EXPECT_EQ(page_->slot(4).heartbeat, 77u);
  EXPECT_EQ(page_->slot(6).ready, 77u);
}

}  // namespace
}  // namespace crossover::arbiter

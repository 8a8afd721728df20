// Tests the StatsStore with a page as clients write it, and with the questions that others ask it.
#include "deviceplugin/stats/stats_store.h"

#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

class StatsStorePageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    gpu_ = std::make_shared<arbiter::GpuInfo>();
    gpu_->uuid = "GPU-0";
    gpu_->page = arbiter::Page::Create(&error);
    ASSERT_NE(gpu_->page, nullptr) << error;
    member_ = std::make_shared<arbiter::Member>();
    member_->gpu = gpu_;
    member_->slot = 3;
    member_->gang = "a";
    member_->uid = 1000;
    member_->gang_size = 2;
    Tell(arbiter::EventKind::kJoin);
  }
  void Tell(arbiter::EventKind kind, turn::Time at = 1, turn::Time duration = 0) {
    stats_store_.OnEvent({.kind = kind, .at = at, .gpu = gpu_, .member = member_, .duration = duration});
  }
  crossover_slot& slot() { return gpu_->page->slot(3); }
  SlotSnapshot ReadSlot() const { return stats_store_.Gpus().at(0).clients.at(0).slot; }
  static JobKey Key() { return {.gang = "a", .uid = 1000, .size = 2}; }

  StatsStore stats_store_;
  std::shared_ptr<arbiter::GpuInfo> gpu_;
  std::shared_ptr<arbiter::Member> member_;
};

// The store reads the claims of the page as they stand, even garbage.
TEST_F(StatsStorePageTest, ReadsThePageWhenAsked) {
  slot().mode = CROSSOVER_MODE_GATE;
  slot().phase = 77;
  slot().faults = 5;
  slot().watch_reason = 6;
  slot().memory_budget_mib = 7;
  slot().memory_used_mib = 8;
  slot().memory_refusals = 9;
  slot().ready = slot().hold = 9;
  slot().rel = 8;
  SlotSnapshot shown = ReadSlot();
  EXPECT_EQ(shown.mode, std::uint32_t{CROSSOVER_MODE_GATE});
  EXPECT_EQ(shown.phase, 77u);
  EXPECT_EQ(shown.faults, 5u);
  EXPECT_EQ(shown.watch_reason, 6u);
  EXPECT_EQ(shown.memory_budget_mib, 7u);
  EXPECT_EQ(shown.memory_used_mib, 8u);
  EXPECT_EQ(shown.memory_refusals, 9u);
  EXPECT_TRUE(shown.holding);
  EXPECT_FALSE(shown.waiting);
  slot().rel = 9;
  slot().ready = 10;
  shown = ReadSlot();
  EXPECT_FALSE(shown.holding);
  EXPECT_TRUE(shown.waiting);
}

TEST_F(StatsStorePageTest, HalfAsMuchAgainIsNotedWhereABudgetWasTooLittle) {
  const auto peak = [this] {
    const auto profile = stats_store_.Profile(Key());
    return profile && profile->peak_memory ? profile->peak_memory->value : 0;
  };
  slot().memory_budget_mib = 100;
  stats_store_.NoteRefusals(*member_);
  EXPECT_EQ(peak(), 0u) << "nothing was refused";
  slot().memory_budget_mib = 0;
  slot().memory_refusals = 1;
  stats_store_.NoteRefusals(*member_);
  EXPECT_EQ(peak(), 0u) << "it has no budget";
  slot().memory_budget_mib = 100;
  stats_store_.NoteRefusals(*member_);
  EXPECT_EQ(peak(), std::uint64_t{150} << 20);
  EXPECT_EQ(stats_store_.Profile(Key())->peak_memory->source, MeasurementSource::kRefused);
  stats_store_.NoteMemory(*member_, std::uint64_t{200} << 20);
  EXPECT_EQ(peak(), std::uint64_t{200} << 20);
  EXPECT_EQ(stats_store_.Profile(Key())->peak_memory->source, MeasurementSource::kNvml);
}

TEST_F(StatsStorePageTest, SaysWhoIsHereAndWhatTheirTurnsWereLike) {
  EXPECT_TRUE(stats_store_.Here(Key()));
  ASSERT_EQ(stats_store_.Members().size(), 1u);
  EXPECT_EQ(stats_store_.Members()[0], member_);
  ASSERT_EQ(stats_store_.Ranks().size(), 1u);
  EXPECT_EQ(stats_store_.Ranks()[0].member, member_);
  EXPECT_EQ(stats_store_.Ranks()[0].joined, 1);
  Tell(arbiter::EventKind::kHold, 10, 4);
  Tell(arbiter::EventKind::kRelease, 30, 20);
  ASSERT_EQ(stats_store_.Turns("", 0).size(), 1u);
  EXPECT_EQ(stats_store_.Turns("", 0)[0].ended, 30);
  EXPECT_TRUE(stats_store_.Turns("GPU-1", 0).empty());
  turn::Stats stats;
  stats.revoked = 7;
  stats_store_.OnStats(*gpu_, stats);
  EXPECT_EQ(stats_store_.Gpus().at(0).stats.revoked, 7u);
  Tell(arbiter::EventKind::kLeave, 40);
  EXPECT_FALSE(stats_store_.Here(Key()));
  EXPECT_TRUE(stats_store_.Members().empty());
  EXPECT_TRUE(stats_store_.Ranks().empty());
}

TEST_F(StatsStorePageTest, RemembersWhatItIsTaught) {
  JobProfile profile;
  profile.job = {.gang = "b", .uid = 1, .size = 1};
  EXPECT_FALSE(stats_store_.Profile(profile.job));
  profile.peak_memory = {5000, 1, MeasurementSource::kNvml};
  stats_store_.LoadProfile(profile);
  EXPECT_EQ(stats_store_.Profile(profile.job), profile);
}

TEST_F(StatsStorePageTest, KnowsWhoIsDisturbed) {
  EXPECT_FALSE(stats_store_.Ranks().at(0).disturbed);
  stats_store_.NoteUnregistered({.processes = {{77, "GPU-0"}}, .found_out = {}, .gangs = {}});
  EXPECT_TRUE(stats_store_.Ranks().at(0).disturbed);
}

TEST_F(StatsStorePageTest, CountsEventsThatNeverReachedIt) {
  EXPECT_EQ(stats_store_.dropped(), 0u);
  stats_store_.OnDropped(3);
  stats_store_.OnDropped(4);
  EXPECT_EQ(stats_store_.dropped(), 7u);
}

}  // namespace
}  // namespace crossover::deviceplugin

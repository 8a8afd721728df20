// Tests the books with a page as clients write it, and with the questions that others ask them.
#include "deviceplugin/books/books.h"

#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

class BooksPageTest : public ::testing::Test {
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
    books_.OnEvent({.kind = kind, .at = at, .gpu = gpu_, .member = member_, .duration = duration});
  }
  crossover_slot& slot() { return gpu_->page->slot(3); }
  Words ReadWords() const { return books_.Gpus().at(0).clients.at(0).words; }
  static JobKey Key() { return {.gang = "a", .uid = 1000, .size = 2}; }

  Books books_;
  std::shared_ptr<arbiter::GpuInfo> gpu_;
  std::shared_ptr<arbiter::Member> member_;
};

// The books read the claims of the page as they stand, even garbage.
TEST_F(BooksPageTest, ReadsThePageWhenAsked) {
  slot().mode = CROSSOVER_MODE_GATE;
  slot().phase = 77;
  slot().faults = 5;
  slot().watch_reason = 6;
  slot().memory_budget_mib = 7;
  slot().memory_used_mib = 8;
  slot().memory_refusals = 9;
  slot().ready = slot().hold = 9;
  slot().rel = 8;
  Words words = ReadWords();
  EXPECT_EQ(words.mode, std::uint32_t{CROSSOVER_MODE_GATE});
  EXPECT_EQ(words.phase, 77u);
  EXPECT_EQ(words.faults, 5u);
  EXPECT_EQ(words.watch_reason, 6u);
  EXPECT_EQ(words.memory_budget_mib, 7u);
  EXPECT_EQ(words.memory_used_mib, 8u);
  EXPECT_EQ(words.memory_refusals, 9u);
  EXPECT_TRUE(words.holding);
  EXPECT_FALSE(words.waiting);
  slot().rel = 9;
  slot().ready = 10;
  words = ReadWords();
  EXPECT_FALSE(words.holding);
  EXPECT_TRUE(words.waiting);
}

TEST_F(BooksPageTest, HalfAsMuchAgainIsNotedWhereABudgetWasTooLittle) {
  const auto peak = [this] {
    const auto profile = books_.Profile(Key());
    return profile && profile->peak_memory ? profile->peak_memory->value : 0;
  };
  slot().memory_budget_mib = 100;
  books_.NoteRefusals(*member_);
  EXPECT_EQ(peak(), 0u) << "nothing was refused";
  slot().memory_budget_mib = 0;
  slot().memory_refusals = 1;
  books_.NoteRefusals(*member_);
  EXPECT_EQ(peak(), 0u) << "it has no budget";
  slot().memory_budget_mib = 100;
  books_.NoteRefusals(*member_);
  EXPECT_EQ(peak(), std::uint64_t{150} << 20);
  EXPECT_EQ(books_.Profile(Key())->peak_memory->source, FigureSource::kRefused);
  books_.NoteMemory(*member_, std::uint64_t{200} << 20);
  EXPECT_EQ(peak(), std::uint64_t{200} << 20);
  EXPECT_EQ(books_.Profile(Key())->peak_memory->source, FigureSource::kNvml);
}

TEST_F(BooksPageTest, SaysWhoIsHereAndWhatTheirTurnsWereLike) {
  EXPECT_TRUE(books_.Here(Key()));
  ASSERT_EQ(books_.Members().size(), 1u);
  EXPECT_EQ(books_.Members()[0], member_);
  ASSERT_EQ(books_.Ranks().size(), 1u);
  EXPECT_EQ(books_.Ranks()[0].member, member_);
  EXPECT_EQ(books_.Ranks()[0].joined, 1);
  Tell(arbiter::EventKind::kHold, 10, 4);
  Tell(arbiter::EventKind::kRelease, 30, 20);
  ASSERT_EQ(books_.Turns("", 0).size(), 1u);
  EXPECT_EQ(books_.Turns("", 0)[0].ended, 30);
  EXPECT_TRUE(books_.Turns("GPU-1", 0).empty());
  turn::Stats stats;
  stats.revoked = 7;
  books_.OnStats(*gpu_, stats);
  EXPECT_EQ(books_.Gpus().at(0).stats.revoked, 7u);
  Tell(arbiter::EventKind::kLeave, 40);
  EXPECT_FALSE(books_.Here(Key()));
  EXPECT_TRUE(books_.Members().empty());
  EXPECT_TRUE(books_.Ranks().empty());
}

TEST_F(BooksPageTest, RemembersWhatItIsTaught) {
  JobProfile profile;
  profile.job = {.gang = "b", .uid = 1, .size = 1};
  EXPECT_FALSE(books_.Profile(profile.job));
  profile.peak_memory = {5000, 1, FigureSource::kNvml};
  books_.Teach(profile);
  EXPECT_EQ(books_.Profile(profile.job), profile);
}

TEST_F(BooksPageTest, KnowsWhoIsDisturbed) {
  EXPECT_FALSE(books_.Ranks().at(0).disturbed);
  books_.NoteUnheard({.processes = {{77, "GPU-0"}}, .found_out = {}, .gangs = {}});
  EXPECT_TRUE(books_.Ranks().at(0).disturbed);
}

TEST_F(BooksPageTest, CountsEventsThatNeverReachedIt) {
  EXPECT_EQ(books_.dropped(), 0u);
  books_.OnDropped(3);
  books_.OnDropped(4);
  EXPECT_EQ(books_.dropped(), 7u);
}

}  // namespace
}  // namespace crossover::deviceplugin

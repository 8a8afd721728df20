// Tests what is published of jobs, with statistics that say what a test wants and a clock that stands still.
#include "deviceplugin/status/job_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/deviceplugin/made_member.h"

namespace crossover::deviceplugin {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
constexpr turn::Time kMs = base::kNsPerMs;
constexpr turn::Time kSecond = base::kNsPerSecond;

class JobTableTest : public ::testing::Test {
 protected:
  RankView Rank(const std::string& gang, int gpu = 0, turn::Time compute = 20 * kMs) {
    const auto member = arbiter::MadeMember(++last_id_, "team/" + gang, "GPU-" + std::to_string(gpu));
    member->name_space = "team";
    member->pod_uid = gang;
    member->gang_size = 2;
    RankView rank{.member = member, .learned = {}, .joined = now_, .iterations = 50, .disturbed = false};
    rank.learned.step_alone = {compute + 10 * kMs, now_, MeasurementSource::kMeasured};
    rank.learned.compute = {compute, now_, MeasurementSource::kTurns};
    rank.learned.away = {10 * kMs, now_, MeasurementSource::kTurns};
    rank.learned.peak_memory = {1000, now_, MeasurementSource::kNvml};
    return rank;
  }
  // Returns a GPU that all of the ranks share.
  static GpuView Shared(const std::vector<RankView>& ranks, std::optional<double> gain) {
    GpuView gpu;
    gpu.uuid = "GPU-0";
    for (const RankView& rank : ranks) gpu.clients.emplace_back().member = rank.member;
    gpu.gain = gain;
    return gpu;
  }
  void Look(const std::vector<RankView>& ranks, const std::vector<GpuView>& gpus = {}) {
    now_ += kSecond / 2;
    table_.Look(ranks, gpus, [](const arbiter::Member& member) { return "key-of-" + member.pod_uid; },
                {.monotonic = now_, .wall_s = now_ / kSecond});
  }

  JobTable table_;
  std::uint64_t last_id_ = 0;
  turn::Time now_ = 5000 * kSecond;
};

TEST_F(JobTableTest, MeansOverRanksAndTheMostOfMemory) {
  std::vector<RankView> ranks = {Rank("a", 0, 20 * kMs), Rank("a", 1, 40 * kMs)};
  ranks[1].learned.peak_memory->value = 3000;
  ranks[1].learned.step_alone->source = MeasurementSource::kEstimated;
  ranks[1].iterations = 7;
  Look(ranks);
  ASSERT_THAT(table_.Jobs(), SizeIs(1));
  const GpuNode::Job job = table_.Jobs()[0];
  EXPECT_EQ(job.gang, "team/a");
  EXPECT_EQ(job.key, "key-of-a");
  EXPECT_EQ(job.gpus, 2);
  EXPECT_DOUBLE_EQ(*job.compute_s, 0.030);
  EXPECT_DOUBLE_EQ(*job.exposed_s, 0.010);
  EXPECT_DOUBLE_EQ(*job.step_alone_s, 0.040);
  EXPECT_EQ(*job.peak_memory, 3000u);
  EXPECT_EQ(job.source, "estimated") << "of the rank that knows least";
  EXPECT_EQ(job.iterations, 7);
  EXPECT_EQ(job.began_s, 5000);
}

TEST_F(JobTableTest, EachRankHasItsOwnCompute) {
  std::vector<RankView> ranks = {Rank("a", 1, 40 * kMs), Rank("a", 0, 20 * kMs), Rank("a", 2)};
  ranks[2].learned.compute.reset();
  Look(ranks);
  const std::string pod = ranks[0].member->pod;
  const std::vector<GpuNode::Rank> told = {
      {.pod = pod, .compute_s = 0.020, .wait_s = 0, .number = 0, .gpu = "GPU-0"},
      {.pod = pod, .compute_s = 0.040, .wait_s = 0, .number = 0, .gpu = "GPU-1"}};
  EXPECT_EQ(table_.Jobs()[0].ranks, told);
  // The mean stays, so the ranks alone make this a change.
  ranks[0].learned.compute->value = 38 * kMs;
  ranks[1].learned.compute->value = 22 * kMs;
  Look(ranks);
  EXPECT_DOUBLE_EQ(table_.Jobs()[0].ranks[0].compute_s, 0.022);
  ranks[1].wait = 5 * kMs;
  Look(ranks);
  EXPECT_DOUBLE_EQ(table_.Jobs()[0].ranks[0].wait_s, 0.005) << "another job has come to its GPU";
  ranks[1].input_wait = 4 * kMs;
  Look(ranks);
  EXPECT_DOUBLE_EQ(table_.Jobs()[0].ranks[0].input_s, 0.004) << "its loader is late from now on";
  for (int gpu = 3; gpu < 40; ++gpu) ranks.push_back(Rank("a", gpu));
  Look(ranks);
  EXPECT_THAT(table_.Jobs()[0].ranks, SizeIs(api::kMostRanksOfJob));
}

TEST_F(JobTableTest, WhatItsRanksCallIsTold) {
  const auto calls = [](std::uint32_t rank, std::uint64_t bytes, std::size_t count = 1) {
    arbiter::CallList list;
    for (std::size_t i = 0; i < count; ++i)
      list.push_back({9 + i, bytes, 2, rank, CROSSOVER_ALL_REDUCE, CROSSOVER_NO_PEER});
    return std::make_shared<const arbiter::CallList>(std::move(list));
  };
  std::vector<RankView> ranks = {Rank("a", 1), Rank("a", 0)};
  Look(ranks);
  EXPECT_THAT(table_.Jobs()[0].communication, IsEmpty());
  ranks[0].calls = calls(1, 1000);
  ranks[1].calls = calls(0, 1000);
  Look(ranks);
  const std::string pod = ranks[0].member->pod;
  const std::vector<api::NcclCall> told = {{pod, 9, 2, 0, api::NcclFunction::kAllReduce, std::nullopt, 1000},
                                           {pod, 9, 2, 1, api::NcclFunction::kAllReduce, std::nullopt, 1000}};
  EXPECT_EQ(table_.Jobs()[0].communication, told);
  ranks[0].calls = ranks[1].calls = calls(0, 1010);
  ranks[0].calls = calls(1, 1010);
  Look(ranks);
  EXPECT_EQ(table_.Jobs()[0].communication, told) << "1% is no change";
  ranks[0].calls = calls(1, 2000);
  Look(ranks);
  EXPECT_EQ(table_.Jobs()[0].communication[1].bytes, 2000u);
  ranks[0].calls = calls(1, 3000, api::kMostCallsOfJob + 1);
  Look(ranks);
  EXPECT_EQ(table_.Jobs()[0].communication[1].bytes, 2000u) << "too many: those that are known stay";
}

TEST_F(JobTableTest, WhatRunsInNoPodIsNoJobOfTheCluster) {
  RankView rank = Rank("a");
  const auto member = arbiter::MadeMember(1, "a", "GPU-0");
  rank.member = member;
  Look({rank});
  EXPECT_THAT(table_.Jobs(), IsEmpty());
}

TEST_F(JobTableTest, NoiseIsNotTold) {
  RankView rank = Rank("a");
  Look({rank});
  rank.learned.compute->value += rank.learned.compute->value / 100;
  Look({rank});
  EXPECT_DOUBLE_EQ(*table_.Jobs()[0].compute_s, 0.020);
  EXPECT_EQ(table_.Jobs()[0].at_s, 5000);
  rank.learned.compute->value = 22 * kMs;
  Look({rank});
  EXPECT_DOUBLE_EQ(*table_.Jobs()[0].compute_s, 0.022);
  EXPECT_EQ(table_.Jobs()[0].at_s, 5001);
}

TEST_F(JobTableTest, NoiseIsOfAStepAndJitterIsNoiseItself) {
  RankView rank = Rank("a");  // 20 ms of compute, 10 away
  rank.learned.jitter = {0.05, now_, MeasurementSource::kTurns};
  Look({rank});
  rank.learned.away->value = 10 * kMs + kMs / 2;
  rank.learned.jitter->value = 0.058;
  Look({rank});
  EXPECT_EQ(table_.Jobs()[0].at_s, 5000);
  rank.learned.jitter->value = 0.1;
  Look({rank});
  EXPECT_DOUBLE_EQ(*table_.Jobs()[0].jitter, 0.1);
  rank.learned.away->value = 12 * kMs;
  Look({rank});
  EXPECT_DOUBLE_EQ(*table_.Jobs()[0].exposed_s, 0.012);
}

TEST_F(JobTableTest, GainBesideWhomWhileAllIsKnown) {
  const std::vector<RankView> ranks = {Rank("a"), Rank("b")};
  for (int i = 0; i < JobTable::kLeastLooks - 1; ++i) Look(ranks, {Shared(ranks, 1.3)});
  EXPECT_THAT(table_.Jobs()[0].meetings, IsEmpty()) << "a few looks say little";
  Look(ranks, {Shared(ranks, 1.3)});
  ASSERT_THAT(table_.Jobs()[0].meetings, SizeIs(1));
  const GpuNode::Meeting meeting = table_.Jobs()[0].meetings[0];
  EXPECT_DOUBLE_EQ(meeting.gain, 1.3);
  ASSERT_THAT(meeting.beside, SizeIs(1));
  EXPECT_EQ(meeting.beside[0].gang, "team/b");
  EXPECT_EQ(meeting.beside[0].key, "key-of-b");
  EXPECT_EQ(table_.Jobs()[1].meetings[0].beside[0].key, "key-of-a");
  Look({ranks[0]});
  EXPECT_THAT(table_.Jobs()[0].meetings, SizeIs(1)) << "it stays when the other has gone";
}

TEST_F(JobTableTest, AGainThatIsUncertainIsNotTold) {
  const std::vector<RankView> ranks = {Rank("a"), Rank("b")};
  GpuView uncertain = Shared(ranks, 2.08);
  uncertain.gain_error = GpuView::kUncertain + 0.01;
  for (int i = 0; i < 3 * JobTable::kLeastLooks; ++i) Look(ranks, {uncertain});
  EXPECT_THAT(table_.Jobs()[0].meetings, IsEmpty());
  for (int i = 0; i < JobTable::kLeastLooks; ++i) Look(ranks, {Shared(ranks, 1.6)});
  ASSERT_THAT(table_.Jobs()[0].meetings, SizeIs(1));
  EXPECT_DOUBLE_EQ(table_.Jobs()[0].meetings[0].gain, 1.6);
}

TEST_F(JobTableTest, WhatWasNotTakingTurnsGainedNothingByThem) {
  const std::vector<RankView> ranks = {Rank("a"), Rank("b")};
  GpuView observed = Shared(ranks, 0.8);
  observed.why_ungated = "the mode is observe";
  for (int i = 0; i < 3 * JobTable::kLeastLooks; ++i) Look(ranks, {observed});
  EXPECT_THAT(table_.Jobs()[0].meetings, IsEmpty());
  observed.stats.way = turn::Way::kSideBySide;
  for (int i = 0; i < JobTable::kLeastLooks; ++i) Look(ranks, {observed});
  EXPECT_THAT(table_.Jobs()[0].meetings, SizeIs(1)) << "where that is faster it is what they gain here";
}

TEST_F(JobTableTest, NoGainBesideAProcessThatTakesNoPart) {
  std::vector<RankView> ranks = {Rank("a"), Rank("b")};
  ranks[1].disturbed = true;
  for (int i = 0; i < 3 * JobTable::kLeastLooks; ++i) Look(ranks, {Shared(ranks, 0.8)});
  EXPECT_THAT(table_.Jobs()[0].meetings, IsEmpty());
}

TEST_F(JobTableTest, OneThatHasEndedStaysUntilItWasPublishedAndForAWhileAfter) {
  Look({Rank("a")});
  table_.NotePublished(now_);  // while it ran: says nothing of its end
  Look({});
  EXPECT_TRUE(table_.Jobs()[0].ended);
  now_ += 10 * JobTable::kStays;
  Look({});
  EXPECT_THAT(table_.Jobs(), SizeIs(1)) << "the server has not heard of it";
  table_.NotePublished(now_);
  now_ += JobTable::kStays - kSecond;
  Look({});
  EXPECT_THAT(table_.Jobs(), SizeIs(1));
  now_ += 2 * kSecond;
  Look({});
  EXPECT_THAT(table_.Jobs(), IsEmpty());
}

TEST_F(JobTableTest, OneThatComesBackIsTheSame) {
  Look({Rank("a")});
  Look({});
  table_.NotePublished(now_);
  Look({Rank("a")});
  EXPECT_FALSE(table_.Jobs()[0].ended);
  EXPECT_EQ(table_.Jobs()[0].began_s, 5000);
  now_ += 2 * JobTable::kStays;
  Look({Rank("a")});
  EXPECT_THAT(table_.Jobs(), SizeIs(1));
}

TEST_F(JobTableTest, AJobThatEndsHadAllItsGpus) {
  Look({Rank("a", 0), Rank("a", 1)});
  Look({Rank("a", 1)});
  EXPECT_EQ(table_.Jobs()[0].gpus, 2) << "the last of its ranks";
  now_ += 61 * kSecond;
  Look({Rank("a", 1)});
  EXPECT_EQ(table_.Jobs()[0].gpus, 1) << "it goes on with less";
  Look({Rank("a", 0), Rank("a", 1)});
  EXPECT_EQ(table_.Jobs()[0].gpus, 2);
}

TEST_F(JobTableTest, AnotherAttemptMinutesLaterBeganThen) {
  Look({Rank("a")});
  Look({});
  now_ += 600 * kSecond;
  Look({Rank("a")});
  EXPECT_THAT(table_.Jobs(), SizeIs(1));
  EXPECT_EQ(table_.Jobs()[0].began_s, 5601) << "no other job had the GPUs in between";
}

TEST_F(JobTableTest, OfThoseThatHaveEndedNotAllAreKept) {
  for (std::size_t i = 0; i < JobTable::kMostEnded + 3; ++i) {
    now_ += kSecond;
    Look({Rank(std::to_string(1000 + i))});
  }
  Look({});
  ASSERT_THAT(table_.Jobs(), SizeIs(JobTable::kMostEnded));
  EXPECT_EQ(table_.Jobs()[0].gang, "team/1003");
}

}  // namespace
}  // namespace crossover::deviceplugin

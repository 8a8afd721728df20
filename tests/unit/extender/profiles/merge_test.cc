#include "extender/profiles/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "extender/profiles/figures.h"

namespace crossover::extender {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
constexpr double kNowOfRuns = 1e9;
constexpr double kDay = 86400;

GpuNode::Job Job(const std::string& gang, int gpus, double compute_s, double exposed_s = 0.01) {
  return {.name_space = "team",
          .gang = "team/" + gang,
          .key = "k",
          .gpus = gpus,
          .compute_s = compute_s,
          .exposed_s = exposed_s,
          .jitter = 0.1,
          .peak_memory = 1000,
          .iterations = 1000,
          .began_s = kNowOfRuns - 100,
          .at_s = kNowOfRuns,
          .meetings = {}};
}
GpuNode::Job At(GpuNode::Job job, double at_s) {
  job.began_s += at_s - job.at_s;
  job.at_s = at_s;
  return job;
}
GpuNode::Job Beside(GpuNode::Job job, const std::string& gang, const std::string& key, double gain) {
  job.meetings.push_back({.beside = {{"other", gang, key}}, .gain = gain, .at_s = job.at_s});
  return job;
}

class MergeTest : public ::testing::Test {
 protected:
  void See(const std::vector<GpuNode::Job>& jobs, double now_s = kNowOfRuns) {
    records_ = Merge(std::move(records_), jobs, now_s, settings_, order_, places_);
  }
  const ProfileRecord& Record() { return records_[{"team", "k"}]; }
  ProfileFigures Figures() { return FiguresOf(Record(), settings_); }

  const ProfileSettings settings_{};
  NodePlaces places_;
  PodOrder order_ = {{{"team", "a-0"}, 0}, {{"team", "a-1"}, 1}};
  ProfileRecords records_;
};

TEST_F(MergeTest, MeansOverTheRanksOfAllNodes) {
  GpuNode::Job big = Job("a", 3, 0.020), small = Job("a", 1, 0.040, 0.050);
  small.peak_memory = 3000;
  small.iterations = 10;
  See({big, small});
  EXPECT_DOUBLE_EQ(Figures().compute_s, 0.025);
  EXPECT_DOUBLE_EQ(Figures().exposed_s, 0.020);
  EXPECT_EQ(Figures().peak_memory, 3000u);
  EXPECT_EQ(Figures().gpus, 4);
  EXPECT_EQ(Figures().samples, 1);
  EXPECT_EQ(Record().runs[0].iterations, 10) << "of the rank that has fewest";
}

// Returns a job of the node with ranks in pods of these numbers.
GpuNode::Job On(const std::string& node, const std::map<int, double>& ranks) {
  GpuNode::Job job = Job("a", static_cast<int>(ranks.size()), 0.020);
  job.node = node;
  for (const auto& [pod, compute_s] : ranks) job.ranks.push_back({"a-" + std::to_string(pod), compute_s});
  return job;
}

TEST_F(MergeTest, TheSlowestRankOfAllNodesAndTheMedian) {
  See({On("n0", {{0, 0.020}, {1, 0.021}}), On("n1", {{2, 0.022}, {3, 0.030}})});
  const ProfileRun& run = Record().runs[0];
  EXPECT_EQ(run.median_s, 0.021);
  EXPECT_EQ(run.slowest, (JobProfile::Slowest{"a-3", "n1", 0.030, kNowOfRuns}));
}

TEST_F(MergeTest, OneRankHasNothingToBeComparedWith) {
  See({On("n0", {{0, 0.020}})});
  EXPECT_EQ(Record().runs[0].median_s, 0);
  EXPECT_EQ(Record().runs[0].slowest, JobProfile::Slowest{});
  See({On("n0", {{0, 0.020}}), On("n1", {{1, 0.030}})});
  EXPECT_EQ(Record().runs[0].median_s, 0.020) << "of two ranks, the faster one is the measure";
  EXPECT_EQ(Record().runs[0].slowest.pod, "a-1");
}

TEST_F(MergeTest, TheRankThatWaitsLongestForItsInput) {
  std::vector<GpuNode::Job> jobs = {On("n0", {{0, 0.020}, {1, 0.021}}), On("n1", {{2, 0.022}})};
  See(jobs);
  EXPECT_EQ(Record().runs[0].input, JobProfile::InputWait{});
  jobs[0].ranks[1].input_s = 0.004;
  jobs[1].ranks[0].input_s = 0.009;
  for (GpuNode::Job& job : jobs) job = At(job, kNowOfRuns + 10);
  See(jobs, kNowOfRuns + 10);
  EXPECT_EQ(Record().runs[0].input, (JobProfile::InputWait{"a-2", "n1", 0.009}));
  for (GpuNode::Job& job : jobs) job.compute_s = 0, job.ranks.clear(), job = At(job, kNowOfRuns + 20);
  See(jobs, kNowOfRuns + 20);
  EXPECT_EQ(Record().runs[0].input.pod, "a-2") << "the nodes learn again";
}

TEST_F(MergeTest, ItIsKnownSinceWhenARankIsSlow) {
  const auto see = [this](double seconds, const std::string& node, double slowest_s) {
    See({At(On("n0", {{0, 0.0200}, {1, 0.0200}}), kNowOfRuns + seconds),
         At(On(node, {{2, slowest_s}}), kNowOfRuns + seconds)},
        kNowOfRuns + seconds);
    return Record().runs[0].slowest.since_s;
  };
  EXPECT_EQ(see(0, "n1", 0.0205), 0) << "noise";
  EXPECT_EQ(see(10, "n1", 0.0220), kNowOfRuns + 10);
  EXPECT_EQ(see(20, "n1", 0.0230), kNowOfRuns + 10);
  EXPECT_EQ(see(30, "n1", 0.0207), kNowOfRuns + 10) << "it may be noise that it is hardly slow";
  EXPECT_EQ(see(40, "n1", 0.0203), 0);
  EXPECT_EQ(see(50, "n1", 0.0220), kNowOfRuns + 50);
  EXPECT_EQ(see(60, "n2", 0.0220), kNowOfRuns + 60) << "at another place it is slow anew";
}

// Returns the job on a node, with the call of one rank of a communicator of two.
GpuNode::Job Calls(const std::string& node, int rank, std::uint64_t bytes = 100, const char* gang = "a") {
  GpuNode::Job job = Job(gang, 1, 0.020);
  job.node = node;
  job.communication.push_back({.pod = "a-" + std::to_string(rank),
                               .communicator = 7,
                               .size = 2,
                               .rank = rank,
                               .function = NcclFunction::kAllReduce,
                               .bytes = bytes});
  return job;
}

TEST_F(MergeTest, WhatTheRanksOfAllNodesCallIsJoined) {
  See({Calls("n0", 0)});
  EXPECT_EQ(Record().communication, Communication{}) << "half of it";
  See({Calls("n0", 0), Calls("n1", 1)});
  EXPECT_EQ(Record().communication, (Communication{.pods = 2,
                                                   .runs = 1,
                                                   .gang = "team/a",
                                                   .began_s = kNowOfRuns - 100,
                                                   .groups = {{NcclFunction::kAllReduce, {0, 1}, 100}}}));
  See({Calls("n0", 0)});
  EXPECT_EQ(Record().communication.runs, 1) << "what is known stays";
  order_.clear();
  records_.clear();
  See({Calls("n0", 0), Calls("n1", 1)});
  EXPECT_EQ(Record().communication, Communication{}) << "the pods are not known";
}

// Two pods pass on 100 bytes each, from node to node.
TEST_F(MergeTest, TheTimesOfUplinksAreThoseOfARunThatCallsTheSameAsTheLast) {
  const auto see = [this](const char* gang, double at_s) {
    See({At(Calls("n0", 0, 100, gang), at_s), At(Calls("n1", 1, 100, gang), at_s)}, at_s);
    return Record().runs.back();
  };
  places_ = {{"n0", {{}, "n0", 50}}, {"n1", {{}, "n1", 50}}};
  EXPECT_EQ(see("a", kNowOfRuns).uplink_s, 0) << "one run may be the exception";
  EXPECT_EQ(see("b", kNowOfRuns + 5000).uplink_s, 2);
  EXPECT_EQ(Record().runs.back().least_uplink_s, 2);
  EXPECT_EQ(Record().runs.front().uplink_s, 0) << "nothing reports the first run any more";
  places_["n1"].link = places_["n0"].link = 25;
  EXPECT_EQ(see("b", kNowOfRuns + 5001).uplink_s, 4) << "it is computed anew";
  places_.erase("n1");
  EXPECT_EQ(see("b", kNowOfRuns + 5002).uplink_s, 4) << "what is known stays";
  EXPECT_THAT(Record().placed, SizeIs(1)) << "that of the first run is forgotten";
  places_["n1"] = {};
  EXPECT_EQ(see("b", kNowOfRuns + 5003).uplink_s, 0) << "it tells no link";
}

TEST_F(MergeTest, RunsThatCallTheSameAreCountedInTheOrderOfTheirBeginnings) {
  const auto run = [](const char* gang, double at_s, std::uint64_t bytes) {
    return std::vector{At(Calls("n0", 0, bytes, gang), at_s), At(Calls("n1", 1, bytes, gang), at_s)};
  };
  std::vector<GpuNode::Job> both = run("z", kNowOfRuns - kDay, 100);
  for (const GpuNode::Job& job : run("a", kNowOfRuns, 95)) both.push_back(job);
  for (int i = 0; i < 3; ++i) See(both);
  EXPECT_EQ(Record().communication.runs, 2);
  EXPECT_EQ(Record().communication.gang, "team/a");
  See(run("b", kNowOfRuns + kDay, 50), kNowOfRuns + kDay);
  EXPECT_EQ(Record().communication.runs, 1) << "it calls something else";
}

// The pod of another gang says that it is a rank of this gang's communicator.
TEST_F(MergeTest, WhatAPodOfAnotherGangClaimsHasNoEffect) {
  GpuNode::Job stranger = Calls("n2", 1, 999, "other");
  stranger.key = "l";
  See({Calls("n0", 0), Calls("n1", 1), stranger});
  EXPECT_EQ(Record().communication.groups.at(0).bytes, 100u);
  EXPECT_EQ((records_[{"team", "l"}].communication), Communication{});
}

TEST_F(MergeTest, CallsOnANodeThatTheRunHasLeftDoNotCount) {
  GpuNode::Job left = Calls("n0", 1), stays = Calls("n1", 0);
  left.communication[0].communicator = 3;
  left.ended = true;
  left.at_s = kNowOfRuns - 50;
  stays.at_s = kNowOfRuns + 51;
  See({left, stays, At(Calls("n2", 1), kNowOfRuns + 51)}, kNowOfRuns + 51);
  EXPECT_EQ(Record().communication.runs, 1);
}

TEST_F(MergeTest, OfTwoRecordsTheLaterCommunicationRemains) {
  ProfileRecord older{.name = "m", .runs = {}, .meetings = {}}, newer = older;
  older.communication = {.pods = 2, .runs = 5, .began_s = 1, .groups = {CallGroup{}}};
  newer.communication = {.pods = 3, .runs = 1, .began_s = 2, .groups = {CallGroup{}}};
  for (const auto& [other, into] : {std::pair{older, newer}, std::pair{newer, older}}) {
    ProfileRecord record = into;
    Join(other, &record);
    EXPECT_EQ(record.communication.pods, 3);
  }
}

TEST_F(MergeTest, WhatIsToldAgainCountsOnce) {
  for (int i = 0; i < 100; ++i)
    See({At(Beside(Job("a", 1, 0.020), "other/b", "l", 1.5), kNowOfRuns + i)}, kNowOfRuns + i);
  EXPECT_THAT(Record().runs, SizeIs(1));
  EXPECT_THAT(Record().meetings[0].gains, SizeIs(1));
  See({At(Job("a", 1, 0.030), kNowOfRuns + kDay)}, kNowOfRuns + kDay);
  EXPECT_THAT(Record().runs, SizeIs(2)) << "a gang of that name a day later is another run";
}

TEST_F(MergeTest, AGangThatMovesToOtherNodesHasNoMoreGpusThanBefore) {
  GpuNode::Job there = At(Job("a", 8, 0.020), kNowOfRuns - 130), here = Job("a", 8, 0.020);
  there.ended = true;
  See({there, here});
  EXPECT_EQ(Figures().gpus, 8);
  EXPECT_EQ(Record().runs.at(0).nodes, 1);
  EXPECT_THAT(Record().runs, SizeIs(1)) << "it went on after seconds";
  records_.clear();
  there.ended = false;
  there.at_s = here.began_s;
  See({there, here});
  EXPECT_EQ(Figures().gpus, 16) << "the control: it is on both";
  EXPECT_EQ(Record().runs.at(0).nodes, 2);
}

TEST_F(MergeTest, AGangThatMovesInPartHasNoMoreGpusThanBefore) {
  GpuNode::Job left = At(Job("a", 8, 0.020), kNowOfRuns - 50), stayed = Job("a", 8, 0.020), came = stayed;
  left.ended = true;
  stayed.began_s = left.began_s;
  came.began_s = kNowOfRuns - 40;
  See({left, stayed, came});
  EXPECT_EQ(Figures().gpus, 16);
}

TEST_F(MergeTest, ARunThatSharedOnceHasSharedHoweverManyWereThere) {
  GpuNode::Job job = Job("a", 1, 0.020);
  See({job});
  EXPECT_NE(Record().runs[0].shared, true) << "the control";
  job.meetings.push_back(
      {.beside = {{"other", "b", ""}, {"other", "c", "l"}}, .gain = 1.2, .at_s = kNowOfRuns});
  See({At(job, kNowOfRuns + 1)}, kNowOfRuns + 1);
  EXPECT_EQ(Record().runs[0].shared, true);
  EXPECT_THAT(Record().meetings, IsEmpty()) << "whose the gain of three is remains unknown";
  See({At(Job("a", 1, 0.020), kNowOfRuns + 2)}, kNowOfRuns + 2);
  EXPECT_EQ(Record().runs[0].shared, true);
}

TEST_F(MergeTest, WhatANodeForgetsFirstTakesNothingAway) {
  See({Job("a", 2, 0.020), Job("a", 2, 0.040)});
  See({Job("a", 2, 0.020)});
  EXPECT_EQ(Figures().gpus, 4);
  EXPECT_DOUBLE_EQ(Figures().compute_s, 0.030);
}

TEST_F(MergeTest, TwoRunsOfOneNameAtTwoTimesAreTwo) {
  See({At(Job("a", 2, 0.020), kNowOfRuns - 5000), Job("a", 2, 0.040)});
  EXPECT_THAT(Record().runs, SizeIs(2));
}

TEST_F(MergeTest, OldRunsAndShortOnesCountLess) {
  GpuNode::Job old = At(Job("a", 1, 0.010), kNowOfRuns - settings_.half_life_s);
  See({old, Job("b", 1, 0.040)});
  EXPECT_DOUBLE_EQ(Figures().compute_s, (0.5 * 0.010 + 0.040) / 1.5);
  records_.clear();
  GpuNode::Job brief = Job("a", 1, 0.010);
  brief.iterations = 100;
  See({brief, Job("b", 1, 0.040)});
  EXPECT_DOUBLE_EQ(Figures().compute_s, (0.1 * 0.010 + 0.040) / 1.1);
}

TEST_F(MergeTest, OutliersOfDisturbedRunsAreLeftOut) {
  GpuNode::Job disturbed = Job("b", 1, 0.080);
  disturbed.disturbed_s = kNowOfRuns;
  See({Job("a", 1, 0.020), disturbed});
  EXPECT_DOUBLE_EQ(Figures().compute_s, 0.020);
  EXPECT_EQ(Figures().samples, 1);
  records_.clear();
  disturbed.disturbed_s = 0;
  See({Job("a", 1, 0.020), disturbed});
  EXPECT_DOUBLE_EQ(Figures().compute_s, 0.050) << "the same figure of a run that was not counts";
  records_.clear();
  disturbed.disturbed_s = kNowOfRuns;
  See({disturbed});
  EXPECT_DOUBLE_EQ(Figures().compute_s, 0.080) << "better than nothing";
}

TEST_F(MergeTest, JobsWithoutAKeyAreLeftOut) {
  GpuNode::Job job = Job("a", 1, 0.020);
  job.key = "";
  See({job});
  EXPECT_THAT(records_, IsEmpty());
}

TEST_F(MergeTest, AClockThatIsAheadMakesNoProfileOld) {
  See({At(Job("a", 1, 0.010), kNowOfRuns + 1000 * kDay), Job("b", 1, 0.030)});
  EXPECT_DOUBLE_EQ(Figures().compute_s, 0.020);
}

TEST_F(MergeTest, GainsOfPairsAlone) {
  GpuNode::Job job = Beside(Job("a", 1, 0.020), "other/b", "l", 1.4);
  job.meetings[0].beside.push_back({"third", "third/c", "m"});
  See({job});
  EXPECT_THAT(Record().meetings, IsEmpty()) << "whose gain is it?";
}

TEST_F(MergeTest, OldGainsCountLessAndAreForgotten) {
  See({Beside(Job("a", 1, 0.020), "other/b", "l", 0.8)});
  const double later = kNowOfRuns + settings_.half_life_s;
  See({At(Beside(At(Job("c", 1, 0.020), later), "other/d", "l", 1.4), later)}, later);
  ASSERT_THAT(Record().meetings, SizeIs(1));
  EXPECT_DOUBLE_EQ(GainOf(Record().meetings[0], settings_), (0.5 * 0.8 + 1.4) / 1.5);
  See({}, kNowOfRuns + settings_.forget_s + 1);
  EXPECT_DOUBLE_EQ(GainOf(Record().meetings[0], settings_), 1.4);
  See({}, later + settings_.forget_s + 1);
  EXPECT_THAT(Record().meetings, IsEmpty());
}

TEST_F(MergeTest, NothingGrowsWithoutBound) {
  for (int i = 0; i < 100; ++i) {
    const double at_s = kNowOfRuns + i * 7200;
    const std::string number = std::to_string(i);
    See({Beside(At(Job("a" + number, 1, 0.020), at_s), "other/b", "l" + number, 1.2),
         Beside(At(Job("c" + number, 1, 0.020), at_s), "other/b", "l", 1.2)},
        at_s);
  }
  EXPECT_THAT(Record().runs, SizeIs(kMostRuns));
  EXPECT_THAT(Record().meetings, SizeIs(kMostMeetings));
  for (const ProfileMeeting& meeting : Record().meetings) EXPECT_LE(meeting.gains.size(), kMostGains);
  EXPECT_EQ(Record().runs.back().gang, "team/c99");
}

}  // namespace
}  // namespace crossover::extender

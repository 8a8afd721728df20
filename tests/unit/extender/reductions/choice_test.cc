// Tests which level of compressed reductions is chosen for a gang whose owner leaves it to the cluster.
#include "extender/reductions/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/gains/shrink.h"

namespace crossover::extender {
namespace {

using placement::Gang;
using placement::Seat;
using ::testing::HasSubstr;

// Has two nodes of two GPUs, and a gang of one rank on each, "own", which computes for a second.
class ChoiceTest : public ::testing::Test {
 protected:
  struct There {
    Gang gang;
    std::vector<Seat> seats;
  };

  static Gang GangOf(const std::string& name, double compute_s, double exposed_s) {
    Gang gang;
    gang.id = gang.name = name;
    gang.space = "team";
    gang.pods = 2;
    gang.gpus_per_pod = 1;
    gang.profile = {.source = placement::Source::kMeasured, .compute_s = compute_s, .exposed_s = exposed_s};
    return gang;
  }
  void Beside(const std::string& name, double compute_s, double exposed_s,
              std::vector<Seat> seats = {{"n0", {"g0"}}, {"n1", {"g0"}}}) {
    others_.push_back({GangOf(name, compute_s, exposed_s), std::move(seats)});
  }
  ShrinkChosen Chosen(double exposed_s) {
    own_.profile.exposed_s = exposed_s;
    std::vector<Occupant> others;
    for (const There& other : others_) others.push_back({&other.gang, &other.seats});
    return ChooseShrink({.own = {&own_, &seats_},
                         .others = others,
                         .nodes = nodes_,
                         .profile = has_profile_ ? &profile_ : nullptr});
  }
  std::string Choice(double exposed_s) { return base::TextOf(Chosen(exposed_s).choice); }

  Gang own_ = GangOf("own", 1, 0);
  std::vector<Seat> seats_ = {{"n0", {"g0"}}, {"n1", {"g0"}}};
  std::vector<There> others_;
  std::vector<placement::Node> nodes_ = {
      {.name = "n0", .domains = {}, .gpus = {{.uuid = "g0", .model = "NVIDIA H200"}}},
      {.name = "n1", .domains = {}, .gpus = {{.uuid = "g0", .model = "NVIDIA H200"}}}};
  JobProfile profile_;
  bool has_profile_ = true;
};

TEST_F(ChoiceTest, TheWeakestLevelThatHidesTheWaitIsTaken) {
  const auto beside_equal = [this](double exposed_s) {
    others_.clear();
    Beside("other", 1, exposed_s);
    return Choice(exposed_s);
  };
  EXPECT_EQ(beside_equal(0.5), "off:not_needed");
  EXPECT_EQ(beside_equal(1), "off:not_needed");
  EXPECT_EQ(beside_equal(1.5), "bf16");
  EXPECT_EQ(beside_equal(2), "bf16");
  EXPECT_EQ(beside_equal(3), "q8");
  EXPECT_EQ(beside_equal(6), "q8") << "no level hides all of it, and the strongest is the nearest";
}

// The model itself judges the choice for many jobs: no other level has a shorter step by more than the model
// calls worth it, and no weaker one is as good. A rule that ignores the neighbours fails where they hide the
// wait.
TEST_F(ChoiceTest, NoOtherLevelIsBetterByTheModel) {
  int hidden = 0;
  for (const double exposed_s : {1.2, 1.7, 2.5, 3.3, 5.0, 8.0}) {
    for (const double compute_s : {0.3, 1.0, 2.0, 4.0}) {
      others_.clear();
      Beside("other", compute_s, exposed_s);
      const ShrinkChosen chosen = Chosen(exposed_s);
      const gains::ShrinkJob own{.compute_s = 1, .exposed_s = exposed_s};
      const auto beside = gains::InStepsOf(1 + exposed_s, {.compute_s = compute_s, .exposed_s = exposed_s});
      const auto step = [&](double ratio) {
        gains::ShrinkJob with = own;
        with.ratio = ratio;
        return gains::StepBeside(with, std::vector{beside});
      };
      const double none = step(1), bf16 = step(2), q8 = step(gains::RatioOf(gains::ShrinkTo::kQ8));
      const double best = std::min({none, bf16, q8});
      SCOPED_TRACE(chosen.why);
      switch (chosen.choice.level) {
        case base::ShrinkLevel::kBf16:
          EXPECT_LE(bf16, best * 1.031);
          EXPECT_GT(none, best * 1.029);
          break;
        case base::ShrinkLevel::kQ8:
          EXPECT_GT(bf16, best * 1.029);
          break;
        default:
          EXPECT_LE(none, best * 1.031);
          ++hidden;
      }
    }
  }
  EXPECT_GT(hidden, 2) << "the control: a rule that takes q8 for each long wait would fail";
}

TEST_F(ChoiceTest, WhatNeighboursHideIsLeftAsItIs) {
  EXPECT_EQ(Choice(1.5), "bf16") << "alone: as beside one like itself";
  Beside("first", 1, 2);
  Beside("second", 1, 2);
  const ShrinkChosen chosen = Chosen(1.5);
  EXPECT_STREQ(base::TextOf(chosen.choice), "off:not_needed");
  EXPECT_EQ(
      chosen.why,
      "what the other jobs compute hides its wait for communication: its wait for communication is 1500 "
      "ms of an iteration and its compute 1000 ms");
}

TEST_F(ChoiceTest, AJobAloneCountsAsBesideOneLikeItself) {
  EXPECT_EQ(Choice(0.9), "off:not_needed");
  EXPECT_EQ(Choice(3), "q8");
  EXPECT_EQ(
      Chosen(3).why,
      "its wait for communication is 3000 ms of an iteration and its compute 1000 ms; beside a job like "
      "itself a step takes 4000 ms, with bf16 2500 ms and with q8 2000 ms");
}

TEST_F(ChoiceTest, JobsOnOtherGpusDoNotCount) {
  Beside("elsewhere", 10, 1, {{"n0", {"g1"}}, {"n1", {"g1"}}});
  Beside("other node", 10, 1, {{"n2", {"g0"}}});
  EXPECT_EQ(Choice(1.5), "bf16");
}

TEST_F(ChoiceTest, TheGpuWhoseOtherJobsComputeMostCounts) {
  Beside("little", 0.1, 3, {{"n0", {"g0"}}});
  EXPECT_EQ(Choice(2), "q8");
  Beside("much", 3, 0.1, {{"n1", {"g0"}}});
  EXPECT_EQ(Choice(2), "off:not_needed");
}

TEST_F(ChoiceTest, WhatIsNotKnownHasNoLevel) {
  own_.profile = {};
  EXPECT_EQ(Choice(3), "off:times_unknown");
  own_ = GangOf("own", 1, 3);
  Beside("new", 0, 0);
  EXPECT_EQ(Choice(3), "off:times_unknown");
  EXPECT_EQ(Chosen(3).why, "the times of team/new, which is beside it, are not known yet");
}

TEST_F(ChoiceTest, OneNodeHasNoSlowLink) {
  seats_ = {{"n0", {"g0", "g1"}}};
  EXPECT_EQ(Choice(6), "off:one_node");
}

TEST_F(ChoiceTest, AJobThatDoesNotReduceGainsNothing) {
  profile_.communication.groups = {{api::NcclFunction::kAllGather, {0, 1}, 1000},
                                   {api::NcclFunction::kReduceScatter, {0, 1}, 1000}};
  EXPECT_EQ(Choice(6), "off:no_gain");
  // A tenth of the bytes is too little to shorten the step by 3% with any level.
  profile_.communication.groups = {{api::NcclFunction::kAllGather, {0, 1}, 19'000},
                                   {api::NcclFunction::kAllReduce, {0, 1}, 500}};
  EXPECT_EQ(Choice(1.1), "off:no_gain");
  profile_.communication.groups = {{api::NcclFunction::kAllReduce, {0, 1}, 1000}};
  EXPECT_EQ(Choice(6), "q8");
}

TEST_F(ChoiceTest, AWaitForInputIsNotCompressed) {
  profile_.input_s = 2.5;
  EXPECT_EQ(Choice(3), "off:not_needed") << "half a second of the wait is communication";
  has_profile_ = false;
  EXPECT_EQ(Choice(3), "q8");
}

// The GPU moves 4.8e12 bytes in a second. With bf16 that is 10 for each of the elements, and 4 bytes of each
// are what the job sends.
TEST_F(ChoiceTest, ACodecThatTakesAsLongAsItSavesIsNotTaken) {
  profile_.communication.groups = {{api::NcclFunction::kAllReduce, {0, 1}, 4'000'000'000'000}};
  EXPECT_EQ(Choice(1.5), "off:no_gain");
  nodes_[1].gpus[0].model = "unknown";
  EXPECT_EQ(Choice(1.5), "bf16") << "its time is not known, and left out";
}

}  // namespace
}  // namespace crossover::extender

#include "extender/shares/shares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace crossover::extender {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using Kind = ShareDecision::Kind;

// Plays a job whose ranks need `full_s` for the whole weight, and `fixed_s` for any.
class Played {
 public:
  explicit Played(std::vector<double> full_s, double fixed_s = 0)
      : waits_s(full_s.size(), 0.0), full_s_(std::move(full_s)), fixed_s_(fixed_s) {}

  std::vector<RankTimes> Times() const {
    std::vector<RankTimes> times;
    double all = 0;
    for (std::size_t i = 0; i < full_s_.size(); ++i) all += Weight(i);
    for (std::size_t i = 0; i < full_s_.size(); ++i) {
      const double part = Weight(i) / all * static_cast<double>(full_s_.size());
      times.push_back({.compute_s = fixed_s_ + full_s_[i] * part, .wait_s = waits_s[i]});
    }
    return times;
  }
  // Decides when the weights have settled.
  ShareDecision Next() {
    now_s += 1000;
    return DecideShares(Times(), now_s, now_s, settings, &state);
  }
  double Longest() const {
    double longest = 0;
    for (const RankTimes& rank : Times()) longest = std::max(longest, rank.compute_s + rank.wait_s);
    return longest;
  }

  std::vector<double> waits_s;
  ShareSettings settings;
  ShareState state;
  double now_s = 0;
  bool heeds = true;

 private:
  double Weight(std::size_t i) const { return heeds && !state.weights.empty() ? state.weights[i] : 1000.0; }

  std::vector<double> full_s_;
  double fixed_s_;
};

TEST(SharesTest, FollowTheSpeeds) {
  Played job({0.1, 0.1, 0.2, 0.4});
  const ShareDecision decision = job.Next();
  EXPECT_EQ(decision.kind, Kind::kChange);
  EXPECT_THAT(job.state.weights, ElementsAre(1000, 1000, 500, 250));
  EXPECT_NEAR(decision.gain, 0.4 / (0.4 / 2.75), 1e-9) << "2.75 is the sum of the speeds of 0.1 s";
  EXPECT_NEAR(job.Longest(), 0.4 / 2.75, 1e-9);
  EXPECT_EQ(job.Next().kind, Kind::kStay);
}

TEST(SharesTest, ThatBringLittleStayAsTheyAre) {
  Played job({0.1, 0.1, 0.1, 0.103});
  EXPECT_EQ(job.Next().kind, Kind::kStay);
  EXPECT_THAT(job.state.weights, IsEmpty());
}

TEST(SharesTest, ARankThatWaitsForItsTurnGetsLess) {
  Played job({0.1, 0.1});
  job.waits_s[1] = 0.1;
  ASSERT_EQ(job.Next().kind, Kind::kChange);
  const auto times = job.Times();
  EXPECT_NEAR(times[0].compute_s, times[1].compute_s + 0.1, 1e-3);
  job.waits_s[1] = 10;
  ASSERT_EQ(job.Next().kind, Kind::kChange);
  EXPECT_EQ(job.state.weights[1], kLeastWeight) << "its wait alone is longer than the step";
}

// The first rank shares its GPU with a job that computes for 40 ms. While the rank has a small part it waits
// for the others of its job, and hardly for its turn: by that wait alone it would get more, and then less
// again, for ever.
TEST(SharesTest, StayWhereANeighbourHasItsTurnsInTheWaitForOtherRanks) {
  constexpr double kAway = 0.008;
  const std::vector<gains::Neighbour> neighbour = {{.compute_s = 0.04, .step_s = 0.048}};
  const auto changes = [&](bool beside) {
    Played job({0.04, 0.04, 0.04, 0.04});
    int count = 0;
    for (int i = 0; i < 8; ++i) {
      job.waits_s[0] = 0;
      const std::vector<RankTimes> times = job.Times();
      const double waits = job.Longest() - times[0].compute_s;  // for the others of its job
      const double measured = waits > 0.03 ? 0.02 : 0.04 - kAway;
      job.waits_s[0] =
          beside ? gains::WaitBeside(measured, kAway, job.Longest() + kAway, neighbour) : measured;
      count += job.Next().kind == Kind::kChange ? 1 : 0;
    }
    return count;
  };
  EXPECT_EQ(changes(true), 1);
  EXPECT_GT(changes(false), 3) << "the control";
}

TEST(SharesTest, ComeNearTheBestWhereAPartOfTheTimeIsFixed) {
  Played job({0.1, 0.1, 0.2, 0.4}, 0.05);
  for (int i = 0; i < 5; ++i) job.Next();
  const auto times = job.Times();
  const auto [least, most] = std::ranges::minmax(times, {}, &RankTimes::compute_s);
  EXPECT_LE(most.compute_s, (1 + job.settings.worth) * least.compute_s);
}

TEST(SharesTest, WaitUntilTheLastOnesHaveSettled) {
  Played job({0.1, 0.2});
  job.state.since_s = 50;
  EXPECT_EQ(DecideShares(job.Times(), 169, 169, job.settings, &job.state).kind, Kind::kStay);
  EXPECT_EQ(DecideShares(job.Times(), 171, 171, job.settings, &job.state).kind, Kind::kChange);
  Played slow({10, 20});
  EXPECT_EQ(DecideShares(slow.Times(), 0, 64 * 20 - 1, slow.settings, &slow.state).kind, Kind::kStay);
  EXPECT_EQ(DecideShares(slow.Times(), 0, 64 * 20 + 1, slow.settings, &slow.state).kind, Kind::kChange);
}

// The extender sees times alone. A job that does not read its file must not be told of a gain for ever.
TEST(SharesTest, OfAJobThatDoesNotHeedThemAreWithdrawnForGood) {
  Played job({0.1, 0.1, 0.2});
  job.heeds = false;
  ASSERT_EQ(job.Next().kind, Kind::kChange);
  const ShareDecision decision = job.Next();
  EXPECT_EQ(decision.kind, Kind::kWithdraw);
  EXPECT_NEAR(decision.followed, 0, 1e-9);
  EXPECT_THAT(job.state.weights, Each(kMostWeight));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(job.Next().kind, Kind::kStay);
}

TEST(SharesTest, ThatNoNodeHasPublishedTimesSinceAreNotJudged) {
  Played job({0.1, 0.1, 0.2});
  job.heeds = false;
  ASSERT_EQ(job.Next().kind, Kind::kChange);
  const auto at = [&job](double measured_s) {
    return DecideShares(job.Times(), measured_s, job.now_s + 500, job.settings, &job.state).kind;
  };
  EXPECT_EQ(at(job.state.since_s), Kind::kStay);
  EXPECT_EQ(at(job.state.since_s + 1), Kind::kWithdraw);
}

TEST(SharesTest, ARankThatBecomesSlowAtTheSameTimeHidesNothing) {
  Played job({0.1, 0.1, 0.2, 0.2});
  ASSERT_EQ(job.Next().kind, Kind::kChange);
  Played slower({0.13, 0.1, 0.2, 0.2});
  slower.state = job.state;
  slower.now_s = job.now_s;
  EXPECT_EQ(slower.Next().kind, Kind::kChange) << "the times followed by more than half";
}

TEST(SharesTest, OfAnotherNumberOfRanksBeginAnew) {
  Played job({0.1, 0.2});
  ASSERT_EQ(job.Next().kind, Kind::kChange);
  Played grown({0.1, 0.2, 0.2});
  grown.state = job.state;
  EXPECT_EQ(DecideShares(Played({0.1, 0.2, 0.2}).Times(), 2000, 2000, grown.settings, &grown.state).kind,
            Kind::kStay);
  EXPECT_THAT(grown.state.weights, IsEmpty());
  EXPECT_EQ(grown.state.since_s, 2000);
}

TEST(SharesTest, OneRankHasNothingToDivide) {
  Played job({0.1});
  EXPECT_EQ(job.Next().kind, Kind::kStay);
}

TEST(SharesTest, TextIsReadAsItIsWritten) {
  EXPECT_EQ(TextOf({1000, 10, 250}), "1000 10 250");
  EXPECT_THAT(WeightsOf("1000 10 250"), ElementsAre(1000, 10, 250));
  for (const char* text : {"", "1000  10", "1000 9", "1001", "1000 x", "-5"})
    EXPECT_THAT(WeightsOf(text), IsEmpty());
}

}  // namespace
}  // namespace crossover::extender

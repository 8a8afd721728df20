#include "extender/profiles/uplinks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::extender {
namespace {

using enum NcclFunction;
using Seats = std::vector<placement::SeatPlace>;

// Pods of even numbers send each other 1,000 bytes, and so do the odd ones; all of them pass on 10.
const Communication kEvenAndOdd = {
    .pods = 4,
    .groups = {{kAllReduce, {0, 2}, 1000}, {kAllReduce, {1, 3}, 1000}, {kAllReduce, {0, 1, 2, 3}, 10}}};

TEST(UplinksTest, TheBusiestUplinkCountsAsPlacedAndAtBest) {
  const Seats seats = {{{}, "n0", 100}, {{}, "n0", 100}, {{}, "n1", 100}, {{}, "n1", 100}};
  const auto times = UplinkTimesOf(kEvenAndOdd, seats);
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->now_s, 20.15) << "two rings of 2 x 1/2, and 2 x 3/4 of the small one";
  EXPECT_DOUBLE_EQ(times->least_s, 0.3) << "the small one crosses twice";
}

TEST(UplinksTest, AMappingThatIsTheBestStays) {
  const Seats seats = {{{}, "n1", 100}, {{}, "n0", 100}, {{}, "n1", 100}, {{}, "n0", 100}};
  const auto times = UplinkTimesOf(kEvenAndOdd, seats);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->now_s, times->least_s);
}

TEST(UplinksTest, UnequalLinksCountBySpeed) {
  const Communication all = {.pods = 3, .groups = {{kSend, {0, 1}, 1000}, {kSend, {0, 2}, 1000}}};
  const auto times = UplinkTimesOf(all, {{{}, "n0", 10}, {{}, "n1", 100}, {{}, "n2", 100}});
  ASSERT_TRUE(times);
  EXPECT_DOUBLE_EQ(times->now_s, 200) << "the pod that sends most is on the slow node";
  EXPECT_DOUBLE_EQ(times->least_s, 100);
}

TEST(UplinksTest, AnOrderThatKeepsPodsOnFastGpusCounts) {
  Seats seats = {{{}, "n0", 100, 1}, {{}, "n0", 100, 1}, {{}, "n1", 100, 0.5}, {{}, "n1", 100, 0.5}};
  Communication known = kEvenAndOdd;
  known.compute_s = {4, 4, 1, 1};
  const auto times = UplinkTimesOf(known, seats);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->least_s, times->now_s) << "the order of fewer bytes would put pod 1 on a slow GPU";
  known.compute_s = {4, 1, 4, 1};
  EXPECT_DOUBLE_EQ(UplinkTimesOf(known, seats)->least_s, 0.3) << "here it shortens compute, too";
  known.compute_s = {};
  EXPECT_DOUBLE_EQ(UplinkTimesOf(known, seats)->least_s, 0.3) << "no compute is known";
  known.compute_s = {4, 4, 1, 1};
  seats[3].speed = 0;
  EXPECT_DOUBLE_EQ(UplinkTimesOf(known, seats)->least_s, 0.3) << "nor the speed of one GPU";
}

TEST(UplinksTest, ALinkOfUnknownSpeedTellsNoTime) {
  EXPECT_EQ(UplinkTimesOf(kEvenAndOdd, {{{}, "n0", 1}, {{}, "n0", 1}, {{}, "n1", 0}, {{}, "n1", 0}}),
            std::nullopt);
  EXPECT_EQ(UplinkTimesOf({}, {}), std::nullopt);
}

}  // namespace
}  // namespace crossover::extender

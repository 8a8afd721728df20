#include "extender/metrics/gang_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

namespace crossover::extender {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string TextOf(const GangStats& stats, double now_s) {
  return prometheus::TextSerializer().Serialize(GangFamilies(stats, now_s));
}

TEST(GangFamiliesTest, WhoDoesNotLeadShowsNothing) { EXPECT_THAT(GangFamilies(std::nullopt, 0), IsEmpty()); }

TEST(GangFamiliesTest, AllIsShownZerosToo) {
  GangStats stats{.placing = 1, .running = 5, .lacking = 2, .reservations = 4, .oldest_s = 1000};
  stats.waiting[static_cast<std::size_t>(Wait::kPlace)] = 2;
  stats.waiting[static_cast<std::size_t>(Wait::kPods)] = 1;
  stats.claims = 1;
  stats.gangs_left = 6;
  stats.claims_ended[static_cast<std::size_t>(ClaimEnd::kForbidden)] = 3;
  stats.choices[1] = 7;
  const std::string text = TextOf(stats, 1060);
  for (const char* line :
       {"crossover_extender_gangs{state=\"waiting\"} 3\n", "crossover_extender_gangs{state=\"placing\"} 1\n",
        "crossover_extender_gangs{state=\"running\"} 5\n", "crossover_extender_reservations 4\n",
        "crossover_extender_lacking_gangs 2\n", "crossover_extender_waiting_gangs{reason=\"no_place\"} 2\n",
        "crossover_extender_waiting_gangs{reason=\"incomplete\"} 1\n",
        "crossover_extender_waiting_gangs{reason=\"size_unknown\"} 0\n",
        "crossover_extender_waiting_gangs{reason=\"faulty\"} 0\n",
        "crossover_extender_waiting_gangs{reason=\"held_off\"} 0\n", "crossover_extender_claims 1\n",
        "crossover_extender_gangs_left_total 6\n",
        "crossover_extender_claims_ended_total{end=\"forbidden\"} 3\n",
        "crossover_extender_claims_ended_total{end=\"room_made\"} 0\n",
        "crossover_extender_shrink_choices_total{choice=\"q8\"} 7\n",
        "crossover_extender_shrink_choices_total{choice=\"off:one_node\"} 0\n",
        "crossover_extender_oldest_wait_seconds 60\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(GangFamiliesTest, WithoutAWaiterTheTimeIsZero) {
  EXPECT_THAT(TextOf({}, 1e9), HasSubstr("crossover_extender_oldest_wait_seconds 0\n"));
  EXPECT_THAT(TextOf({.oldest_s = 1000}, 990), HasSubstr("crossover_extender_oldest_wait_seconds 0\n"))
      << "by a node's clock that is ahead";
}

}  // namespace
}  // namespace crossover::extender

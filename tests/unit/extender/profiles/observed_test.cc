// Follows what two jobs gained, from the reports of their nodes to the decision which jobs share GPUs.
#include "extender/profiles/observed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "extender/placement/engine.h"
#include "extender/profiles/figures.h"
#include "extender/profiles/merge.h"
#include "tests/unit/extender/placement/cluster.h"

namespace crossover::extender {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
constexpr double kNowObserved = 1e9;

// Returns the profiles as a watch of JobProfiles delivers them.
std::vector<JobProfile> ProfilesOf(const ProfileRecords& records) {
  std::vector<JobProfile> profiles;
  for (const auto& [id, record] : records) {
    JobProfile& profile = profiles.emplace_back();
    profile.name_space = id.first;
    profile.key = id.second;
    for (const ProfileMeeting& meeting : record.meetings)
      profile.meetings.push_back(
          {.name_space = meeting.name_space, .key = meeting.key, .gain = GainOf(meeting, {})});
  }
  return profiles;
}

std::vector<placement::Observed> SeenIn(const std::vector<JobProfile>& profiles) {
  std::vector<const JobProfile*> all;
  for (const JobProfile& profile : profiles) all.push_back(&profile);
  return ObservedOf(all);
}

// Returns both jobs of a pair, as their node reports them.
std::vector<GpuNode::Job> Met(double gain) {
  const auto job = [gain](const std::string& mine, const std::string& other) {
    GpuNode::Job made{.name_space = "team",
                      .gang = "team/" + mine,
                      .key = mine,
                      .gpus = 4,
                      .compute_s = 0.01,
                      .exposed_s = 0.01,
                      .iterations = 500,
                      .began_s = kNowObserved - 9,
                      .at_s = kNowObserved,
                      .meetings = {}};
    made.meetings = {{.beside = {{"team", "team/" + other, other}}, .gain = gain, .at_s = kNowObserved}};
    return made;
  };
  return {job("x", "y"), job("y", "x")};
}

class ObservedTest : public ::testing::Test {
 protected:
  ObservedTest() {
    running_.key = "team/x";
    waiting_.key = "team/y";
  }
  // Returns whether two jobs that would fit share the only GPUs there are.
  bool Meet(const std::vector<placement::Observed>& observed) {
    const auto nodes = placement::Nodes(1, 4);
    const placement::State state{
        .nodes = nodes, .placed = {placement::OnAll(running_, nodes)}, .observed = observed};
    const auto decision = placement::Decide(state, {waiting_}, 0, {});
    return placement::PlanFor(decision, waiting_.id) != nullptr;
  }
  placement::Gang running_ = placement::Job("a"), waiting_ = placement::Job("b");
};

TEST_F(ObservedTest, ThoseWhoLostByItDoNotMeetAgain) {
  EXPECT_TRUE(Meet({})) << "nothing else is in the way";
  const auto lost = SeenIn(ProfilesOf(Merge({}, Met(0.9), kNowObserved, {})));
  ASSERT_THAT(lost, SizeIs(1)) << "each pair once";
  EXPECT_DOUBLE_EQ(lost[0].gain, 0.9);
  EXPECT_FALSE(Meet(lost));
  EXPECT_TRUE(Meet(SeenIn(ProfilesOf(Merge({}, Met(1.3), kNowObserved, {})))))
      << "they may where it was a gain";
}

TEST_F(ObservedTest, NotEvenAfterTheLeaderWasAway) {
  ProfileRecords records = Merge({}, Met(0.9), kNowObserved, {});
  records = Merge(std::move(records), {}, kNowObserved + 20 * 86400, {});
  EXPECT_FALSE(Meet(SeenIn(ProfilesOf(records))));
  records = Merge(std::move(records), {}, kNowObserved + 31 * 86400, {});
  EXPECT_TRUE(Meet(SeenIn(ProfilesOf(records)))) << "what is a month old may have changed";
}

TEST_F(ObservedTest, TheSameKeyOfAnotherNamespaceIsAnotherJob) {
  running_.key = "elsewhere/x";
  EXPECT_TRUE(Meet(SeenIn(ProfilesOf(Merge({}, Met(0.9), kNowObserved, {})))));
}

TEST_F(ObservedTest, WithoutAKeyNothingIsKnown) {
  EXPECT_EQ(PlacementKeyOf("team", ""), "");
  JobProfile profile;
  profile.name_space = "team";
  profile.meetings = {{.name_space = "team", .key = "x", .gain = 0.5}};
  EXPECT_THAT(SeenIn(std::vector{profile}), IsEmpty());
}

}  // namespace
}  // namespace crossover::extender

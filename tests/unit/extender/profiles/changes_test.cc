#include "extender/profiles/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::extender {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
constexpr double kNow = 1e9;
const ProfileId kId{"team", "k"};

ProfileRecord Record(double compute_s) {
  ProfileRecord record{.name = "k-1", .has_hints = false, .runs = {}, .meetings = {}};
  record.runs.push_back({.gang = "team/a",
                         .began_s = kNow - 9,
                         .at_s = kNow,
                         .gpus = 4,
                         .iterations = 100,
                         .compute_s = compute_s,
                         .exposed_s = 0.01});
  record.meetings.push_back({"other", "l", {{"team/a", "other/b", 1.2, kNow}}});
  return record;
}

class ChangesTest : public ::testing::Test {
 protected:
  std::vector<ProfileChange> Changes(const ProfileRecords& known, const ProfileRecords& merged,
                                     double now_s = kNow) {
    return ChangesOf(known, merged, now_s, settings_);
  }
  const ProfileSettings settings_{};
};

TEST_F(ChangesTest, ThoseThatAreNewAreMade) {
  const auto changes = Changes({}, {{kId, Record(0.020)}});
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].kind, ProfileChange::Kind::kCreate);
  EXPECT_THAT(changes[0].record.name, testing::StartsWith("k-"));
}

TEST_F(ChangesTest, OnlyWhatIsNoticeableIsWritten) {
  EXPECT_THAT(Changes({{kId, Record(0.0200)}}, {{kId, Record(0.0209)}}), IsEmpty());
  EXPECT_THAT(Changes({{kId, Record(0.0200)}}, {{kId, Record(0.0212)}}), SizeIs(1));
  ProfileRecord gained = Record(0.020);
  gained.meetings[0].gains[0].gain = 1.23;
  EXPECT_THAT(Changes({{kId, Record(0.020)}}, {{kId, gained}}), IsEmpty());
  gained.meetings[0].gains[0].gain = 1.3;
  EXPECT_THAT(Changes({{kId, Record(0.020)}}, {{kId, gained}}), SizeIs(1));
  ProfileRecord more = Record(0.020);
  more.runs.push_back(more.runs[0]);
  EXPECT_THAT(Changes({{kId, Record(0.020)}}, {{kId, more}}), SizeIs(1));
  ProfileRecord calls = Record(0.020);
  calls.communication = {.pods = 2, .runs = 1, .groups = {{NcclFunction::kAllReduce, {0, 1}, 1}}};
  EXPECT_THAT(Changes({{kId, Record(0.020)}}, {{kId, calls}}), SizeIs(1));
  EXPECT_THAT(Changes({{kId, calls}}, {{kId, calls}}), IsEmpty());
  ProfileRecord placed = Record(0.020);
  placed.runs.back().uplink_s = placed.runs.back().least_uplink_s = 0.004;
  EXPECT_THAT(Changes({{kId, Record(0.020)}}, {{kId, placed}}), SizeIs(1));
  ProfileRecord better = placed;
  better.runs.back().least_uplink_s = 0.003;
  EXPECT_THAT(Changes({{kId, placed}}, {{kId, better}}), SizeIs(1));
  EXPECT_THAT(Changes({{kId, placed}}, {{kId, placed}}), IsEmpty());
  ProfileRecord used = Record(0.020);
  used.runs[0].at_s += settings_.refresh_s + 1;
  EXPECT_THAT(Changes({{kId, Record(0.020)}}, {{kId, used}}), SizeIs(1)) << "else it is taken for unused";
}

TEST_F(ChangesTest, UnusedOnesAreRemovedButNoHints) {
  const ProfileRecords old = {{kId, Record(0.020)}};
  const double later = kNow + settings_.unused_s;
  EXPECT_THAT(Changes(old, old, later - 1), IsEmpty());
  const auto changes = Changes(old, old, later + 1);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].kind, ProfileChange::Kind::kRemove);
  EXPECT_THAT(Changes({}, old, later + 1), IsEmpty()) << "a node that is gone says it for ever";
  ProfileRecord hinted = Record(0.020);
  hinted.has_hints = true;
  EXPECT_THAT(Changes({{kId, hinted}}, {{kId, hinted}}, later + 1), IsEmpty());
  const ProfileRecord unowned{.name = "mine", .has_hints = false, .runs = {}, .meetings = {}};
  EXPECT_THAT(Changes({{kId, unowned}}, {{kId, unowned}}, later + 1), IsEmpty())
      << "nothing of ours is in it";
}

}  // namespace
}  // namespace crossover::extender

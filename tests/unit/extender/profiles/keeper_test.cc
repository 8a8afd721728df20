// Tests the keeper of profiles against a server whose answers the test sets.
#include "extender/profiles/keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "extender/profiles/objects.h"
#include "tests/unit/common/kube/server.h"

namespace crossover::extender {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kEmpty[] = R"({"items": []})";
constexpr char kMine[] =
    R"({"items": [{"metadata": {"namespace": "team", "name": "mine"}, "spec": {"key": "k"}}]})";

class ProfileKeeperTest : public ::testing::Test {
 protected:
  static std::vector<GpuNode::Job> Jobs(double compute_s) {
    return {{.name_space = "team",
             .gang = "team/a",
             .key = "k",
             .gpus = 2,
             .compute_s = compute_s,
             .iterations = 100,
             .began_s = 1.7e9,
             .at_s = 1.7e9 + 1,
             .ranks = {{"a-0", 0.020}, {"a-1", compute_s}},
             .communication = {CallOf(0), CallOf(1)},
             .meetings = {}}};
  }
  static NcclCall CallOf(int rank) {
    return {.pod = "a-" + std::to_string(rank), .communicator = 1, .size = 2, .rank = rank, .bytes = 100};
  }
  std::unique_ptr<ProfileKeeper> Keeper() {
    return std::make_unique<ProfileKeeper>(
        kube::Access{.server = server_.url(), .ca_file = "", .token_file = ""}, ProfileSettings{},
        ProfileKeeper::Dependencies{
            .leads = [this] { return ++asked_, leads_.load(); },
            .jobs =
                [this] { return std::optional(with_jobs_ ? Jobs(compute_s_) : std::vector<GpuNode::Job>()); },
            .order =
                [](std::span<const GpuNode::Job>) {
                  return PodOrder{{{"team", "a-0"}, 1}, {{"team", "a-1"}, 0}};
                },
            .is_there = [this](const ProfileId&) { return is_there_.load(); },
            .tell_slow =
                [this](const ProfileId& id, const ProfileRun& run) {
                  EXPECT_EQ(id, ProfileId("team", "k"));
                  EXPECT_EQ(run.slowest.pod, "a-1");
                  ++told_;
                },
            .period = std::chrono::milliseconds(1),
            .now_s = [this] { return now_s_.load(); }});
  }
  template <class Condition>
  static void Await(const Condition& condition) {
    while (!condition()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  // Blocks until the rounds that are under way now, and one more, are over.
  void AwaitRounds() {
    const int asked = asked_;
    Await([&] { return asked_ > asked + 6; });
  }

  kube::Server server_;
  std::atomic<bool> leads_{true}, with_jobs_{true}, is_there_{false};
  std::atomic<int> asked_{0}, told_{0};
  std::atomic<double> compute_s_{0.020}, now_s_{1.7e9 + 2};
};

TEST_F(ProfileKeeperTest, ReadsMakesAndWritesTheStatus) {
  server_.Answer(200, kEmpty);
  server_.Answer(201, "{}");
  server_.Answer(200, "{}");
  const auto keeper = Keeper();
  EXPECT_THAT(server_.AwaitRequest(0), StartsWith("GET /apis/crossover.dev/v1alpha1/jobprofiles?limit=40 "));
  const std::string made = server_.AwaitRequest(1);
  EXPECT_THAT(made, StartsWith("PATCH /apis/crossover.dev/v1alpha1/namespaces/team/jobprofiles/k-"));
  EXPECT_THAT(made, HasSubstr(R"("spec":{"key":"k"})"));
  EXPECT_THAT(made, Not(HasSubstr("status")));
  const std::string written = server_.AwaitRequest(2);
  EXPECT_THAT(written, HasSubstr("/status?fieldManager=crossover-extender&force=true "));
  EXPECT_THAT(written, HasSubstr(R"("computeSeconds":0.02)"));
  EXPECT_THAT(written, HasSubstr(R"("groups":[{"bytes":100,"function":"AllReduce","members":[1,0]}])"));
  Await([&] { return keeper->written() == 1; });
  AwaitRounds();
  EXPECT_EQ(keeper->written(), 1u) << "nothing has changed";
  compute_s_ = 0.040;
  AwaitRounds();
  EXPECT_EQ(keeper->written(), 1u) << "not yet again";
  server_.Answer(200, "{}");
  now_s_ = now_s_ + 61;
  EXPECT_THAT(server_.AwaitRequest(3), HasSubstr(R"("computeSeconds":0.04)"));
}

TEST_F(ProfileKeeperTest, ARankThatHasBecomeSlowIsToldOnce) {
  for (const int status : {200, 201, 200}) server_.Answer(status, status == 200 ? kEmpty : "{}");
  const auto keeper = Keeper();
  Await([&] { return keeper->written() == 1; });
  AwaitRounds();
  EXPECT_EQ(told_, 0) << "no rank is slow";
  server_.Answer(200, "{}");
  compute_s_ = 0.040;
  now_s_ = now_s_ + 61;
  Await([&] { return told_ > 0; });  // it is told after the profile is written
  EXPECT_EQ(keeper->written(), 2u);
  server_.Answer(200, "{}");
  compute_s_ = 0.060;
  now_s_ = now_s_ + 61;
  Await([&] { return keeper->written() == 3; });
  AwaitRounds();
  EXPECT_EQ(told_, 1) << "it is slow still";
}

TEST_F(ProfileKeeperTest, AnExtenderThatDoesNotLeadWritesNothing) {
  leads_ = false;
  server_.Answer(200, kEmpty);
  const auto keeper = Keeper();
  AwaitRounds();
  EXPECT_EQ(keeper->written() + keeper->failures(), 0u);
  leads_ = true;
  EXPECT_THAT(server_.AwaitRequest(0), StartsWith("GET ")) << "nor has it asked before";
}

TEST_F(ProfileKeeperTest, OnTopOfWhatIsThere) {
  server_.Answer(200, kMine);
  server_.Answer(200, "{}");
  const auto keeper = Keeper();
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("/jobprofiles/mine/status?")) << "by its key, not its name";
}

TEST_F(ProfileKeeperTest, OneThatWasRemovedIsMadeAnew) {
  server_.Answer(200, kMine);
  server_.Answer(404, "{}");
  const auto keeper = Keeper();
  server_.AwaitRequest(1);
  Await([&] { return keeper->failures() == 1; });
  server_.Answer(201, "{}");
  now_s_ = now_s_ + 61;
  EXPECT_THAT(server_.AwaitRequest(2), HasSubstr("/jobprofiles/k-"));
}

TEST_F(ProfileKeeperTest, OneThatCouldNotBeWrittenIsNotMadeTwice) {
  server_.Answer(200, kMine);
  server_.Answer(500, "{}");
  const auto keeper = Keeper();
  server_.AwaitRequest(1);
  Await([&] { return keeper->failures() == 1; });
  server_.Answer(200, "{}");
  now_s_ = now_s_ + 61;
  EXPECT_THAT(server_.AwaitRequest(2), HasSubstr("/jobprofiles/mine/status?"));
}

TEST_F(ProfileKeeperTest, OneThatItsUserMadeMeanwhileIsNotMadeTwice) {
  with_jobs_ = false;
  server_.Answer(200, kEmpty);
  const auto keeper = Keeper();
  server_.AwaitRequest(0);
  AwaitRounds();
  server_.Answer(200, kMine);
  server_.Answer(200, "{}");
  is_there_ = true;  // first, because a round may come between the two
  with_jobs_ = true;
  EXPECT_THAT(server_.AwaitRequest(1), StartsWith("GET /apis/crossover.dev/v1alpha1/jobprofiles?"));
  EXPECT_THAT(server_.AwaitRequest(2), HasSubstr("/jobprofiles/mine/status?"));
}

TEST_F(ProfileKeeperTest, OursGoesIntoTheOneWithItsUsersFigures) {
  with_jobs_ = false;
  const std::string ours = ProfileNameOf("k");
  const std::string run =
      R"({"gang": "team/b", "beganAt": "2023-11-14T00:00:00Z", "lastSeen": "2023-11-14T01:00:00Z", "gpus": 2,
          "iterations": 100, "computeSeconds": 0.5})";
  server_.Answer(200, R"({"items": [{"metadata": {"namespace": "team", "name": ")" + ours +
                          R"("}, "spec": {"key": "k"}, "status": {"runs": [)" + run + R"(]}},
      {"metadata": {"namespace": "team", "name": "mine"}, "spec": {"key": "k", "computeSeconds": 1}},
      {"metadata": {"namespace": "team", "name": "other"}, "spec": {"key": "k"}}]})");
  server_.Answer(500, "{}");
  const auto keeper = Keeper();
  const std::string written = server_.AwaitRequest(1);
  EXPECT_THAT(written, HasSubstr("/jobprofiles/mine/status?"));
  EXPECT_THAT(written, HasSubstr(R"("gang":"team/b")")) << "nothing is lost";
  Await([&] { return keeper->failures() == 1; });
  AwaitRounds();
  EXPECT_EQ(keeper->removed(), 0u) << "not before that stands";
  server_.Answer(200, "{}");
  server_.Answer(200, "{}");
  now_s_ = now_s_ + 61;
  EXPECT_THAT(server_.AwaitRequest(2), HasSubstr("/jobprofiles/mine/status?"));
  EXPECT_THAT(server_.AwaitRequest(3),
              StartsWith("DELETE /apis/crossover.dev/v1alpha1/namespaces/team/jobprofiles/" + ours));
  Await([&] { return keeper->removed() == 1; });
  AwaitRounds();
  EXPECT_EQ(keeper->removed(), 1u) << "the third is a user's, too";
}

TEST_F(ProfileKeeperTest, UnusedOnesGo) {
  server_.Answer(200,
                 R"({"items": [{"metadata": {"namespace": "old", "name": "o"}, "spec": {"key": "o"}, "status":
      {"runs": [{"gang": "old/a", "lastSeen": "2001-01-01T00:00:00Z", "beganAt": "2001-01-01T00:00:00Z"}]}}]})");
  server_.Answer(200, "{}");
  const auto keeper = Keeper();
  EXPECT_THAT(server_.AwaitRequest(1),
              StartsWith("DELETE /apis/crossover.dev/v1alpha1/namespaces/old/jobprofiles/o "));
  Await([&] { return keeper->removed() == 1; });
}

}  // namespace
}  // namespace crossover::extender

#include "extender/shares/share_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

namespace crossover::extender {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::chrono::seconds kLong{60};

ShareJob::Member Pod(const char* uid, const char* name, const char* text = "") {
  return {.pod = {.uid = uid, .name_space = "team", .name = name}, .text = text};
}

// A Cluster has one job of two pods with one rank each. It is the API server, too. Round() alone changes what
// the keeper's thread reads.
class Cluster : public Api {
 public:
  Result Write(const Action& action) override {
    EXPECT_EQ(action.kind, Action::Kind::kShare);
    const std::scoped_lock lock(mutex_);
    if (refuses) return {.outcome = Outcome::kRefused, .error = "422"};
    for (ShareJob::Member& member : job.pods) {
      if (member.pod.uid == action.pod.uid) member.text = action.text;
    }
    return {.outcome = Outcome::kDone};
  }
  nlohmann::json Read(const OwnerRef&, std::string*) override { return nullptr; }
  void Tell(const Action& action) override {
    const std::scoped_lock lock(mutex_);
    told_.push_back(action.reason + ": " + action.text);
  }
  std::size_t TellRoom() override { return 1; }

  std::optional<std::vector<ShareJob>> Jobs() {
    const std::scoped_lock lock(mutex_);
    ++rounds_;
    changed_.notify_all();
    return std::vector{job};
  }
  double Now() {
    const std::scoped_lock lock(mutex_);
    return now_s;
  }
  // Changes something, and waits until a whole round has seen it.
  template <class Change>
  void Round(Change change) {
    std::unique_lock lock(mutex_);
    change();
    const int wanted = rounds_ + 2;
    ASSERT_TRUE(changed_.wait_for(lock, kLong, [&] { return rounds_ >= wanted; }));
  }
  std::vector<std::string> Texts() {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> texts;
    for (const ShareJob::Member& member : job.pods) texts.push_back(member.text);
    return texts;
  }
  std::vector<std::string> Told() {
    const std::scoped_lock lock(mutex_);
    return told_;
  }

  ShareJob job{.id = "team/train",
               .pods = {Pod("a", "train-0"), Pod("b", "train-1")},
               .ranks = {{.compute_s = 0.1}, {.compute_s = 0.2}},
               .measured_s = 1e9};
  bool refuses = false;
  double now_s = 1000;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int rounds_ = 0;
  std::vector<std::string> told_;
};

ShareKeeper::Dependencies Around(Cluster* cluster) {
  return {.leads = [] { return true; },
          .jobs = [cluster] { return cluster->Jobs(); },
          .now_s = [cluster] { return cluster->Now(); },
          .period = std::chrono::milliseconds(1)};
}

class ShareKeeperTest : public ::testing::Test {
 protected:
  void After(double seconds) {
    cluster_.Round([this, seconds] { cluster_.now_s += seconds; });
  }

  Cluster cluster_;
  ShareKeeper keeper_{cluster_, {}, Around(&cluster_)};
};

TEST_F(ShareKeeperTest, WritesWeightsOnceTheRanksHaveSettled) {
  After(0);  // the keeper sees the job now
  After(60);
  After(59);
  EXPECT_THAT(cluster_.Texts(), ElementsAre("", ""));
  After(2);
  EXPECT_THAT(cluster_.Texts(), ElementsAre("1000 500", "1000 500"));
  EXPECT_THAT(
      cluster_.Told(),
      ElementsAre("BatchSharesChanged: The ranks get these weights for their parts of the batch, in the "
                  "order of ranks: 1000 500. A step should become shorter by 33%."));
  EXPECT_EQ(keeper_.changes(), 1u);
}

TEST_F(ShareKeeperTest, APodThatIsMadeAnewGetsThem) {
  After(0);
  After(121);
  cluster_.Round([this] { cluster_.job.pods[1] = Pod("c", "train-1"); });
  EXPECT_THAT(cluster_.Texts(), ElementsAre("1000 500", "1000 500"));
}

TEST_F(ShareKeeperTest, WithdrawsThoseThatTheJobDoesNotHeed) {
  After(0);
  After(121);
  After(121);
  EXPECT_THAT(cluster_.Texts(), ElementsAre("1000 1000", "1000 1000"));
  const std::vector<std::string> told = cluster_.Told();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_THAT(told[1],
              HasSubstr("BatchSharesWithdrawn: The compute times of the ranks followed the new weights "
                        "by 0%, expected 50% or more"));
  EXPECT_EQ(keeper_.withdrawals(), 1u);
}

TEST_F(ShareKeeperTest, AWriteThatIsRefusedIsTriedAgain) {
  cluster_.Round([this] { cluster_.refuses = true; });
  After(121);
  EXPECT_THAT(cluster_.Texts(), ElementsAre("", ""));
  EXPECT_GE(keeper_.failures(), 2u);
  cluster_.Round([this] { cluster_.refuses = false; });
  EXPECT_THAT(cluster_.Texts(), ElementsAre("1000 500", "1000 500"));
  EXPECT_EQ(cluster_.Told().size(), 1u);
}

// The replica that leads from now on knows the weights, and not what the ranks took before.
TEST(ShareKeeper, GoesOnWithTheWeightsOfAnEarlierLeader) {
  Cluster cluster;
  cluster.job = {.id = "team/train",
                 .pods = {Pod("a", "train-0", "1000 500"), Pod("b", "train-1", "1000 500")},
                 .ranks = {{.compute_s = 0.133}, {.compute_s = 0.133}},
                 .measured_s = 1e9};
  const ShareKeeper keeper(cluster, {}, Around(&cluster));
  cluster.Round([] {});
  cluster.Round([&cluster] { cluster.now_s += 121; });
  EXPECT_THAT(cluster.Texts(), ElementsAre("1000 500", "1000 500"));
  EXPECT_THAT(cluster.Told(), IsEmpty());
}

}  // namespace
}  // namespace crossover::extender

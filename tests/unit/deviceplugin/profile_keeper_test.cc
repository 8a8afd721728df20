#include "deviceplugin/profile_keeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/unit/deviceplugin/profiles/sample.h"

namespace crossover::deviceplugin {
namespace {

class KeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path().string() + "/profiles-XXXXXX";
    directory_ = mkdtemp(name.data());
    std::string error;
    store_ = ProfileStore::Open(directory_, &error);
    ASSERT_NE(store_, nullptr) << error;
    gpu_ = std::make_shared<arbiter::GpuInfo>();
    gpu_->uuid = "GPU-0";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::shared_ptr<const arbiter::Member> NewMember(const std::string& gang) {
    auto member = std::make_shared<arbiter::Member>();
    member->id = ++last_id_;
    member->gpu = gpu_;
    member->gang = gang;
    member->gang_size = 4;
    member->uid = 1000;
    return member;
  }
  void Tell(arbiter::EventKind kind, const std::shared_ptr<const arbiter::Member>& member) {
    arbiter::Event event{};
    event.kind = kind;
    event.at = 1000;
    event.gpu = gpu_;
    event.member = member;
    event.demand = {.busy = 20'000'000, .away = 10'000'000};
    stats_store_.OnEvent(event);
    keeper_->OnEvent(event);
  }

  std::string directory_;
  std::unique_ptr<ProfileStore> store_;
  StatsStore stats_store_;
  std::unique_ptr<ProfileKeeper> keeper_;
  std::shared_ptr<arbiter::GpuInfo> gpu_;
  std::uint64_t last_id_ = 0;
};

TEST_F(KeeperTest, KeepsAProfileWhenTheLastClientLeaves) {
  keeper_ = std::make_unique<ProfileKeeper>(&stats_store_, store_.get());
  const auto first = NewMember("a");
  const auto second = NewMember("a");
  for (const auto& member : {first, second}) Tell(arbiter::EventKind::kJoin, member);
  Tell(arbiter::EventKind::kStep, first);
  Tell(arbiter::EventKind::kLeave, first);
  EXPECT_TRUE(store_->All().empty());
  Tell(arbiter::EventKind::kLeave, second);
  ASSERT_EQ(store_->All().size(), 1u);
  EXPECT_EQ(store_->Find("a", 1000, 4)->busy, 20'000'000);
}

TEST_F(KeeperTest, AJobThatShowedNothingLeavesNothing) {
  keeper_ = std::make_unique<ProfileKeeper>(&stats_store_, store_.get());
  const auto member = NewMember("a");
  Tell(arbiter::EventKind::kJoin, member);
  Tell(arbiter::EventKind::kLeave, member);
  EXPECT_TRUE(store_->All().empty());
}

TEST_F(KeeperTest, TheBooksLearnWhatTheStoreKnows) {
  store_->Put(Sample("a"));
  keeper_ = std::make_unique<ProfileKeeper>(&stats_store_, store_.get());
  EXPECT_EQ(stats_store_.Profile(Sample("a").job), Sample("a"));
  const auto member = NewMember("a");
  Tell(arbiter::EventKind::kJoin, member);
  Tell(arbiter::EventKind::kStep, member);
  Tell(arbiter::EventKind::kLeave, member);
  EXPECT_EQ(store_->All()[0].compute->value, 20'000'000) << "learned again";
  EXPECT_EQ(store_->All()[0].step_alone, Sample("a").step_alone) << "not learned this time";
}

}  // namespace
}  // namespace crossover::deviceplugin

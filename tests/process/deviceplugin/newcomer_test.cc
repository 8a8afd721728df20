// Tests that the arbiter knows a new client's demand from an earlier process of the same job.
#include <gtest/gtest.h>
#include <unistd.h>

#include <mutex>
#include <thread>

#include "deviceplugin/arbiter/arbiter.h"
#include "tests/process/deviceplugin/client.h"
#include "tests/process/deviceplugin/processes.h"

namespace crossover::testing {
namespace {

class Joined : public arbiter::Observer {
 public:
  void OnEvent(const arbiter::Event& event) override {
    if (event.kind != arbiter::EventKind::kJoin) return;
    const std::lock_guard lock(mutex_);
    members_.push_back(event.member);
  }
  void OnLog(arbiter::LogLevel, std::string) override {}
  void OnStats(const std::shared_ptr<const arbiter::GpuInfo>&, const turn::Stats&) override {}

  std::shared_ptr<const arbiter::Member> last() const {
    const std::lock_guard lock(mutex_);
    return members_.back();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<const arbiter::Member>> members_;
};

class OneJob : public arbiter::ProfileSource {
 public:
  std::optional<turn::Demand> Find(const std::string& gang, std::uint32_t uid,
                                   std::uint32_t size) const override {
    if (gang != "known" || uid != geteuid() || size != MakeHello("").gang_size) return std::nullopt;
    return turn::Demand{.busy = 20'000'000, .away = 10'000'000};
  }
};

class NewcomerTest : public ::testing::Test {
 protected:
  void Start(const arbiter::ProfileSource* profiles) {
    arbiter::Settings settings;
    settings.socket.path = dir_.File("a.sock");
    arbiter_ = std::make_unique<arbiter::Arbiter>(settings, &joined_, profiles);
    std::string error;
    ASSERT_TRUE(arbiter_->Start(&error)) << error;
    thread_ = std::thread([this] { arbiter_->Run(); });
  }
  void TearDown() override {
    arbiter_->Stop();
    thread_.join();
  }
  turn::Demand KnownOf(const std::string& gang) {
    Client client(dir_.File("a.sock"));
    EXPECT_TRUE(client.Join(gang)) << client.refusal();
    return joined_.last()->known;
  }

  TempDir dir_;
  Joined joined_;
  OneJob profiles_;
  std::unique_ptr<arbiter::Arbiter> arbiter_;
  std::thread thread_;
};

TEST_F(NewcomerTest, IsKnownByTheJobsName) {
  Start(&profiles_);
  const turn::Demand known = KnownOf("known");
  EXPECT_EQ(known.busy, 20'000'000);
  EXPECT_EQ(known.away, 10'000'000);
  EXPECT_FALSE(KnownOf("other").known());
}

TEST_F(NewcomerTest, NoJobIsKnownWithoutProfiles) {
  Start(nullptr);
  EXPECT_FALSE(KnownOf("known").known());
}

}  // namespace
}  // namespace crossover::testing

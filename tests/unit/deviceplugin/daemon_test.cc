// Tests a daemon whose arbiter does not answer.
#include "deviceplugin/daemon.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "common/base/fd.h"
#include "tests/unit/deviceplugin/arbiter_connection.h"
#include "tests/unit/deviceplugin/known_processes.h"

namespace crossover::deviceplugin {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Keeps the arbiter's thread from the first connection until it is let go.
class Holding : public KnownProcesses {
 public:
  arbiter::Account AccountOf(const arbiter::Peer& peer) const override {
    holds_ = true;
    holds_.notify_all();
    let_go_.wait(false);
    return arbiter::AccountOfUser(peer);
  }

  void AwaitHeld() const { holds_.wait(false); }
  void LetGo() {
    let_go_ = true;
    let_go_.notify_all();
  }

 private:
  mutable std::atomic<bool> holds_{false};
  std::atomic<bool> let_go_{false};
};

class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest() {
    EXPECT_NE(mkdtemp(directory_), nullptr);
    Config config;
    config.arbiter.socket.path = path();
    daemon_ = std::make_unique<Daemon>(config, nullptr, &holding_);
    std::string error;
    EXPECT_TRUE(daemon_->Start({}, &error)) << error;
  }
  ~DaemonTest() override {
    holding_.LetGo();
    daemon_.reset();
    std::filesystem::remove_all(directory_);
  }

  std::string path() const { return std::string(directory_) + "/arbiter.sock"; }

  char directory_[24] = "/tmp/daemon-test-XXXXXX";
  Holding holding_;
  std::unique_ptr<Daemon> daemon_;
};

TEST_F(DaemonTest, IsAliveWhileItsArbiterAnswers) { EXPECT_TRUE(daemon_->alive()); }

TEST_F(DaemonTest, ModesDoNotWaitForAHealthCheck) {
  const base::UniqueFd client = ConnectToArbiter(path());
  holding_.AwaitHeld();
  std::future<bool> alive = std::async(std::launch::async, [this] { return daemon_->alive(); });
  steady_clock::duration longest{};
  while (alive.wait_for(milliseconds(10)) != std::future_status::ready) {
    const auto before = steady_clock::now();
    EXPECT_EQ(daemon_->mode().in_force, arbiter::Policy::kEnforce);
    longest = std::max(longest, steady_clock::now() - before);
  }
  EXPECT_FALSE(alive.get()) << "the control: the arbiter's thread is held";
  EXPECT_LT(longest, milliseconds(1000));
}

}  // namespace
}  // namespace crossover::deviceplugin

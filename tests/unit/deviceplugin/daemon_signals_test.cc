// Tests what a daemon lets its signallers do while its node is in maintenance.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "common/base/fd.h"
#include "deviceplugin/daemon.h"
#include "deviceplugin/signals/wire.h"
#include "tests/unit/deviceplugin/arbiter_connection.h"
#include "tests/unit/deviceplugin/known_processes.h"

namespace crossover::deviceplugin {
namespace {

using signals::HeaderOf;

constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000000";

// Stands for a node on which each process may be a signaller.
class Node : public KnownProcesses {
 public:
  bool MaySignal(const arbiter::Account&) const override { return true; }
};

class DaemonSignalsTest : public ::testing::Test {
 protected:
  DaemonSignalsTest() {
    EXPECT_NE(mkdtemp(directory_), nullptr);
    Config config;
    config.arbiter.socket.path = path();
    config.transport = signals::Transport::kIpc;
    daemon_ = std::make_unique<Daemon>(config, nullptr, &node_);
    std::string error;
    EXPECT_TRUE(daemon_->Start({}, &error)) << error;
  }
  ~DaemonSignalsTest() override {
    daemon_.reset();
    std::filesystem::remove_all(directory_);
  }

  std::string path() const { return std::string(directory_) + "/arbiter.sock"; }
  base::UniqueFd Signaller(bool rests) {
    crossover_signaller_hello hello{};
    hello.header = HeaderOf<crossover_signaller_hello>(CROSSOVER_SIGNALLER_HELLO);
    std::strcpy(hello.gpu_uuid, kGpu);
    hello.signal_version = CROSSOVER_SIGNAL_VERSION;
    hello.rests = rests ? 1 : 0;
    base::UniqueFd fd = ConnectToArbiter(path());
    EXPECT_EQ(send(fd.get(), &hello, sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
    return fd;
  }
  // Waits for a Rest. Returns what it says.
  std::uint32_t AwaitRest(const base::UniqueFd& fd) {
    crossover_rest wire{};
    EXPECT_EQ(recv(fd.get(), &wire, sizeof wire, 0), static_cast<ssize_t>(sizeof wire));
    EXPECT_EQ(wire.header.type, static_cast<std::uint32_t>(CROSSOVER_REST));
    return wire.rest;
  }
  void Limit(std::optional<bool> maintenance) {
    daemon_->Limit({.policy = arbiter::Policy::kOff, .by = "a test", .held = {}, .maintenance = maintenance});
  }

  char directory_[32] = "/tmp/crossover-test-XXXXXX";
  Node node_;
  std::unique_ptr<Daemon> daemon_;
};

TEST_F(DaemonSignalsTest, MaintenanceLetsThemRestAndItsEndLetsThemGoOn) {
  const base::UniqueFd working = Signaller(/*rests=*/false);
  Limit(true);
  EXPECT_EQ(AwaitRest(working), 1u);
  const base::UniqueFd resting = Signaller(/*rests=*/true);
  const base::UniqueFd late = Signaller(/*rests=*/false);  // started meanwhile
  EXPECT_EQ(AwaitRest(late), 1u) << "and the one that rests is told nothing";
  Limit(false);
  EXPECT_EQ(AwaitRest(resting), 0u);
}

TEST_F(DaemonSignalsTest, WhileTheNodeIsNotKnownTheyStayAsTheyAre) {
  const base::UniqueFd working = Signaller(/*rests=*/false), resting = Signaller(/*rests=*/true);
  Limit(std::nullopt);
  Limit(true);
  EXPECT_EQ(AwaitRest(working), 1u) << "the first message";
  Limit(false);
  EXPECT_EQ(AwaitRest(resting), 0u) << "the first message";
}

}  // namespace
}  // namespace crossover::deviceplugin

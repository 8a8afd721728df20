#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>

#include "simgpu/nccl/peers.h"

namespace simgpu::nccl {
namespace {

class PeersTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("SIMGPU_NCCL_PEERS", prefix_.c_str(), 1);
    setenv("SIMGPU_NCCL_THIN", "8", 1);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    (prefix_ + ".1").copy(address.sun_path, sizeof address.sun_path - 1);
    listener_.Reset(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(listener_.get(), 1), 0);
  }
  void TearDown() override {
    unsetenv("SIMGPU_NCCL_PEERS");
    unsetenv("SIMGPU_NCCL_THIN");
    unlink((prefix_ + ".1").c_str());
  }

  const std::string prefix_ = testing::TempDir() + "peers" + std::to_string(getpid());
  UniqueFd listener_;
  std::string error_;
};

TEST_F(PeersTest, TellsWhoItIsAndEachCall) {
  ncclUniqueId id{};
  id.internal[0] = 7;
  const auto peers = Peers::Call(2, 0, id, &error_);
  ASSERT_NE(peers, nullptr) << error_;
  const UniqueFd guest(accept(listener_.get(), nullptr, nullptr));
  PeerHello hello;
  ASSERT_EQ(recv(guest.get(), &hello, sizeof hello, 0), static_cast<ssize_t>(sizeof hello));
  EXPECT_EQ(hello.ranks, 2);
  EXPECT_EQ(hello.rank, 1);
  EXPECT_EQ(hello.id.internal[0], 7);
  const Call call{.function = Function::kReduce, .count = 12};
  EXPECT_TRUE(peers->Say(call));
  Call heard;
  ASSERT_EQ(recv(guest.get(), &heard, sizeof heard, 0), static_cast<ssize_t>(sizeof heard));
  EXPECT_EQ(heard, call);
}

TEST_F(PeersTest, OnlyWhatZerosDoNotChangeIsThinned) {
  const auto peers = Peers::Call(2, 0, {}, &error_);
  ASSERT_NE(peers, nullptr) << error_;
  const auto count = [&](Function function, ncclRedOp_t op, int root) {
    return peers->Thinned({.function = function, .op = op, .root = root, .count = 80}).count;
  };
  EXPECT_EQ(count(Function::kAllReduce, ncclSum, -1), 10u);
  EXPECT_EQ(count(Function::kBroadcast, ncclSum, 0), 10u);
  EXPECT_EQ(count(Function::kBroadcast, ncclSum, 1), 80u);
  EXPECT_EQ(count(Function::kAllReduce, ncclMax, -1), 80u);
  EXPECT_EQ(count(Function::kAllReduce, ncclAvg, -1), 80u);
  EXPECT_EQ(count(Function::kAllGather, ncclSum, -1), 80u);
}

TEST_F(PeersTest, OtherRanksMakeNoCalls) {
  EXPECT_EQ(Peers::Call(2, 1, {}, &error_), nullptr);
  EXPECT_EQ(error_, "");
  EXPECT_EQ(Peers::Call(1, 0, {}, &error_), nullptr);
  EXPECT_EQ(error_, "");
}

TEST_F(PeersTest, SaysWhatIsWrong) {
  EXPECT_EQ(Peers::Call(3, 0, {}, &error_), nullptr);
  EXPECT_NE(error_.find(prefix_ + ".2"), std::string::npos) << error_;
  setenv("SIMGPU_NCCL_THIN", "0", 1);
  EXPECT_EQ(Peers::Call(2, 0, {}, &error_), nullptr);
  EXPECT_EQ(error_, "SIMGPU_NCCL_THIN: expected a whole number from 1 to 1024, got 0");
}

}  // namespace
}  // namespace simgpu::nccl

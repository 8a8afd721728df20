// Tests two ranks as threads on nodes of their own, over shaped links: nothing arrives sooner than the
// links allow.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include "common/base/futex.h"
#include "simgpu/machine/machine.h"
#include "simgpu/nccl/engine.h"

namespace simgpu::nccl {
namespace {

constexpr double kBytesPerS = 1e6;

class NcclLinksTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string state = testing::TempDir() + "simgpu-links-" + std::to_string(getpid());
    setenv("SIMGPU_MACHINE", ("2x1,node_link_bytes_per_s=1e6,state=" + state).c_str(), 1);
    setenv("NCCL_SOCKET_IFNAME", "lo", 1);
    unsetenv("SIMGPU_CONFIG");
    unsetenv("SIMGPU_NODE");
    unsetenv("SIMGPU_STATE");
  }
  void SetUp() override { ASSERT_NE(Machine::Get(), nullptr) << Machine::error(); }
};

// Sends `bytes` from rank 0 to rank 1, `times` times. Returns the shortest transfer, as this rank saw it.
Nanos ShortestTransfer(const ncclUniqueId& id, int rank, std::uint64_t bytes, int times) {
  Cancel cancel;
  Meeting meeting;
  std::string error;
  Member self;
  std::snprintf(self.node, sizeof self.node, "node%d", rank);
  EXPECT_TRUE(Meet(id, 2, rank, self, 22809, cancel, &meeting, &error)) << error;
  auto network = std::make_unique<Network>(std::move(meeting), rank, Machine::Get(), -1, Fault{});
  std::uint32_t done = 0;
  Engine engine(std::move(network), &done);
  std::vector<std::byte> data(bytes);
  Nanos shortest = kNever;
  for (int i = 0; i < times; ++i) {
    auto task = std::make_unique<Task>();
    const Function function = rank == 0 ? Function::kSend : Function::kRecv;
    task->transfers = {{{function, ncclInt8, ncclSum, 1 - rank, bytes}, data.data(), bytes}};
    const std::uint32_t number = engine.Submit(std::move(task));
    const Nanos begin = MonotonicNow();
    engine.Begin(number);
    for (std::uint32_t seen = 0; static_cast<std::int32_t>(seen - number) < 0;) {
      seen = crossover::base::LoadWord(&done);
      if (static_cast<std::int32_t>(seen - number) < 0)
        crossover::base::FutexWait(&done, seen, 1'000'000'000);
    }
    shortest = std::min(shortest, MonotonicNow() - begin);
  }
  EXPECT_EQ(engine.failure().text, "");
  engine.Finish();
  return shortest;
}

// The sender is done when its link has served all that it sends, not when the last piece leaves.
TEST_F(NcclLinksTest, NoTransferBeatsItsLink) {
  ncclUniqueId id;
  std::string error;
  ASSERT_TRUE(StartRoot(&id, &error)) << error;
  constexpr std::uint64_t kBytes = 3000;
  std::array<Nanos, 2> shortest{};
  std::array<std::thread, 2> ranks;
  for (int r = 0; r < 2; ++r) {
    ranks[static_cast<std::size_t>(r)] =
        std::thread([&, r] { shortest[static_cast<std::size_t>(r)] = ShortestTransfer(id, r, kBytes, 20); });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_GE(static_cast<double>(shortest[0]), kBytes / kBytesPerS * 1e9);
}

// A piece leaves a little before its link has served it, so that its receiver is awake in time; what counts
// is when it has been served.
TEST_F(NcclLinksTest, APieceIsServedWhenItsLinkHasServedIt) {
  const auto link = Machine::Get()->OpenNodeLink(Direction::kOut, 0);
  const Nanos begin = MonotonicNow();
  const Mark mark = link->Extend(3000);
  EXPECT_GE(ServedBy(link.get(), mark), begin + 3'000'000);
  const Nanos end = link->WaitServed(mark);
  EXPECT_EQ(ServedBy(link.get(), mark), end);
  EXPECT_EQ(ServedBy(nullptr, 0), 0);
}

}  // namespace
}  // namespace simgpu::nccl

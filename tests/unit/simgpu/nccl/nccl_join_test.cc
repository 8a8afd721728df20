// Tests that ranks that meet learn of it when one of them dies on the way, and that a stale unique ID is told
// as such.
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <thread>

#include "common/base/futex.h"
#include "simgpu/nccl/engine.h"

namespace simgpu::nccl {
namespace {

constexpr std::uint32_t kLibrary = 22809;

ncclUniqueId NewId() {
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  ncclUniqueId id{};
  std::string error;
  EXPECT_TRUE(StartRoot(&id, &error)) << error;
  return id;
}

// Joins as any rank does, and dies at one of these moments.
enum class Dies { kBeforeTheTable, kAfterTheTable };

void JoinAndDie(const ncclUniqueId& id, int ranks, int rank, Dies moment) {
  const Cancel never;
  std::string error;
  const auto where = DecodeUniqueId(id);
  ASSERT_TRUE(where);
  Join join;
  join.nonce = where->nonce;
  join.ranks = static_cast<std::uint32_t>(ranks);
  join.rank = static_cast<std::uint32_t>(rank);
  join.library = kLibrary;
  join.self.listener = *ChooseAddress(&error);
  std::strcpy(join.self.node, "node");
  UniqueFd listener = Listen(&join.self.listener, &error);
  const UniqueFd root = Connect(where->root, never, &error);
  ASSERT_TRUE(root) << error;
  ASSERT_TRUE(SendAll(root.get(), EncodeJoin(join), never, &error)) << error;
  if (moment == Dies::kBeforeTheTable) return;
  FrameReader reader;
  // The other ranks may find the listener still there, or gone.
  ASSERT_TRUE(ReceiveFrame(root.get(), reader, Kind::kTable, never, &error)) << error;
}

// Runs one collective, if there are others to run it with. Returns the error.
std::string Sum(Meeting meeting, int rank) {
  if (meeting.members.size() == 1) return "";
  std::uint32_t done = 0;
  Engine engine(std::make_unique<Network>(std::move(meeting), rank, nullptr, -1, Fault{}), &done);
  float value = 1;
  auto task = std::make_unique<Task>();
  task->ring = Call{Function::kAllReduce, ncclFloat32, ncclSum, -1, 1};
  task->staging = reinterpret_cast<std::byte*>(&value);
  const std::uint32_t number = engine.Submit(std::move(task));
  if (number != 0) engine.Begin(number);
  while (number != 0 && crossover::base::LoadWord(&done) == 0)
    crossover::base::FutexWait(&done, 0, 1'000'000'000);
  engine.Finish();
  return engine.failure().text;
}

// Returns the error of one rank that meets the others and makes a collective with them, or an empty string. A
// rank whose neighbours are well may meet them, and learns of a death elsewhere in the collective.
std::string MeetOthers(const ncclUniqueId& id, int ranks, int rank) {
  const Cancel never;
  Meeting meeting;
  Member self;
  std::strcpy(self.node, "node");
  std::string error;
  if (!Meet(id, ranks, rank, self, kLibrary, never, &meeting, &error)) return error;
  return Sum(std::move(meeting), rank);
}

// Runs all ranks as threads; rank `dead` dies. Returns the errors.
std::vector<std::string> MeetWithADeath(int ranks, std::optional<int> dead, Dies moment) {
  const ncclUniqueId id = NewId();
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      if (rank == dead) return JoinAndDie(id, ranks, rank, moment);
      errors[static_cast<std::size_t>(rank)] = MeetOthers(id, ranks, rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

class NcclJoinTest : public testing::TestWithParam<int> {};

TEST_P(NcclJoinTest, ADeathBehindTheTableReachesAllRanks) {
  for (int dead = 0; dead < GetParam(); ++dead) {
    const auto errors = MeetWithADeath(GetParam(), dead, Dies::kAfterTheTable);
    for (int rank = 0; rank < GetParam(); ++rank) {
      if (rank == dead) continue;
      EXPECT_NE(errors[static_cast<std::size_t>(rank)], "") << rank << " of " << GetParam();
    }
    // Known good: the next start, with an ID of its own, brings all ranks together.
    for (const std::string& error : MeetWithADeath(GetParam(), std::nullopt, Dies::kAfterTheTable)) {
      EXPECT_EQ(error, "");
    }
  }
}

TEST_P(NcclJoinTest, ADeathBeforeTheTableReachesAllRanks) {
  const int dead = GetParam() - 1;
  const auto errors = MeetWithADeath(GetParam(), dead, Dies::kBeforeTheTable);
  for (int rank = 0; rank < dead; ++rank) EXPECT_NE(errors[static_cast<std::size_t>(rank)], "") << rank;
}

INSTANTIATE_TEST_SUITE_P(Sizes, NcclJoinTest, testing::Values(2, 3, 5));

// Gives back an ID whose root has ended: all its ranks, one, have their answer.
ncclUniqueId EndedId() {
  const ncclUniqueId id = NewId();
  EXPECT_EQ(MeetOthers(id, 1, 0), "");
  return id;
}

TEST(NcclStaleIdTest, ARankWithAnOldIdIsToldSo) {
  const ncclUniqueId id = EndedId();
  const Cancel never;
  std::string error;
  // The root closes its listener a moment after its last answer.
  while (Connect(DecodeUniqueId(id)->root, never, &error)) std::this_thread::yield();
  EXPECT_NE(MeetOthers(id, 2, 1).find("the id may be of an earlier start of the job"), std::string::npos);
}

TEST(NcclStaleIdTest, ANewRootAtAnOldAddressSaysSo) {
  const ncclUniqueId id = NewId();
  auto old = *DecodeUniqueId(id);
  old.nonce ^= 1;
  ncclUniqueId stale{};
  EncodeUniqueId(old, &stale);
  EXPECT_EQ(MeetOthers(stale, 2, 1), "the unique id is of an earlier start of the job");
  EXPECT_EQ(MeetOthers(id, 1, 0), "");
}

}  // namespace
}  // namespace simgpu::nccl

// Tests which sends and receives make up AlltoAll, Gather and Scatter: carried out on plain memory, they move
// what the formulas of NCCL's documentation say.
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "simgpu/collectives/exchange.h"

namespace simgpu::nccl {
namespace {

constexpr int kRanks = 4;
constexpr int kCount = 3;
constexpr int kUnset = -1;

// Holds the memory of one rank.
struct Memory {
  std::vector<int> send;
  std::vector<int> recv;
};

std::vector<Memory> Filled() {
  std::vector<Memory> memories(kRanks);
  for (int rank = 0; rank < kRanks; ++rank) {
    Memory& memory = memories[static_cast<std::size_t>(rank)];
    for (int i = 0; i < kRanks * kCount; ++i) memory.send.push_back(1000 * rank + i);
    memory.recv.assign(kRanks * kCount, kUnset);
  }
  return memories;
}

// Pairs the legs of all ranks as a network does, in the order of the calls, and copies. All data is read
// before any is written. Expects that no leg is left over.
void CarryOut(const std::vector<Exchange>& calls) {
  std::map<std::pair<int, int>, std::vector<Leg>> sends, recvs;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const Leg& leg : Legs(calls[static_cast<std::size_t>(rank)], rank, kRanks)) {
      if (leg.function == Function::kSend) sends[{rank, leg.peer}].push_back(leg);
      if (leg.function == Function::kRecv) recvs[{leg.peer, rank}].push_back(leg);
    }
  }
  std::vector<std::pair<void*, std::vector<std::byte>>> writes;
  for (const auto& [ends, list] : sends) {
    ASSERT_EQ(list.size(), recvs[ends].size()) << ends.first << " to " << ends.second;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto* from = static_cast<const std::byte*>(list[i].send);
      writes.push_back({recvs[ends][i].recv, {from, from + kCount * sizeof(int)}});
    }
    recvs.erase(ends);
  }
  for (const auto& [ends, list] : recvs) EXPECT_TRUE(list.empty()) << ends.first << " to " << ends.second;
  for (const auto& [into, bytes] : writes) std::memcpy(into, bytes.data(), bytes.size());
}

Exchange Call(Pattern pattern, Memory& memory, int root) {
  return {pattern, memory.send.data(), memory.recv.data(), kCount, ncclInt32, root};
}

int At(const std::vector<int>& values, int rank, int i) {
  return values[static_cast<std::size_t>(rank * kCount + i)];
}

TEST(NcclExchangeTest, AlltoAllTransposesTheBlocks) {
  auto memories = Filled();
  std::vector<Exchange> calls;
  for (Memory& memory : memories) calls.push_back(Call(Pattern::kAlltoAll, memory, 0));
  CarryOut(calls);
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int from = 0; from < kRanks; ++from) {
      for (int i = 0; i < kCount; ++i) {
        EXPECT_EQ(At(memories[static_cast<std::size_t>(rank)].recv, from, i),
                  1000 * from + kCount * rank + i);
      }
    }
  }
}

TEST(NcclExchangeTest, GatherBringsTheFirstBlockOfEachRankToTheRoot) {
  constexpr int kRoot = 2;
  auto memories = Filled();
  std::vector<Exchange> calls;
  for (Memory& memory : memories) calls.push_back(Call(Pattern::kGather, memory, kRoot));
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != kRoot) calls[static_cast<std::size_t>(rank)].recv = nullptr;  // it is not used
  }
  CarryOut(calls);
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(At(memories[kRoot].recv, rank, i), 1000 * rank + i);
    if (rank == kRoot) continue;
    EXPECT_EQ(memories[static_cast<std::size_t>(rank)].recv, std::vector<int>(kRanks * kCount, kUnset));
  }
}

TEST(NcclExchangeTest, ScatterBringsOneBlockOfTheRootToEachRank) {
  constexpr int kRoot = 1;
  auto memories = Filled();
  std::vector<Exchange> calls;
  for (Memory& memory : memories) calls.push_back(Call(Pattern::kScatter, memory, kRoot));
  for (int rank = 0; rank < kRanks; ++rank) {
    if (rank != kRoot) calls[static_cast<std::size_t>(rank)].send = nullptr;  // it is not used
  }
  CarryOut(calls);
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto& recv = memories[static_cast<std::size_t>(rank)].recv;
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(At(recv, 0, i), 1000 * kRoot + kCount * rank + i);
    EXPECT_EQ(At(recv, 1, 0), kUnset);
  }
}

// The root's own block stays where it is: no leg of the root goes to the root.
TEST(NcclExchangeTest, RootsKeepTheirBlockInPlace) {
  constexpr int kRoot = 3;
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    std::vector<int> buffer(kRanks * kCount);
    int* const own = buffer.data() + kRoot * kCount;
    const bool gathers = pattern == Pattern::kGather;
    Exchange call{pattern, gathers ? own : buffer.data(), gathers ? buffer.data() : own, kCount, ncclInt32,
                  kRoot};
    const auto legs = Legs(call, kRoot, kRanks);
    EXPECT_EQ(legs.size(), kRanks - 1u) << Name(pattern);
    for (const Leg& leg : legs) EXPECT_NE(leg.peer, kRoot) << Name(pattern);
    // Known bad: the buffers are the same, but the root's block is another one, so it has to move.
    call.send = call.recv = buffer.data();
    EXPECT_EQ(Legs(call, kRoot, kRanks).size(), kRanks + 1u) << Name(pattern);
  }
}

TEST(NcclExchangeTest, NothingMovesWithoutElements) {
  for (const Pattern pattern : {Pattern::kAlltoAll, Pattern::kGather, Pattern::kScatter}) {
    Exchange call{pattern, nullptr, nullptr, 0, ncclInt32, 0};
    EXPECT_EQ(FindFault(call, 0, kRanks), "");
    EXPECT_TRUE(Legs(call, 0, kRanks).empty());
  }
}

TEST(NcclExchangeTest, FaultsAreNamed) {
  int value = 0;
  int other = 0;
  const auto fault = [&](Pattern pattern, const void* send, void* recv, std::uint64_t count, int type,
                         int root, int rank) {
    return FindFault({pattern, send, recv, count, static_cast<ncclDataType_t>(type), root}, rank, kRanks);
  };
  EXPECT_EQ(fault(Pattern::kGather, &value, &other, 1, ncclInt32, 4, 0),
            "root: expected a rank from 0 to 3, got 4");
  EXPECT_EQ(fault(Pattern::kScatter, &value, &other, 1, ncclInt32, -1, 0),
            "root: expected a rank from 0 to 3, got -1");
  EXPECT_EQ(fault(Pattern::kAlltoAll, &value, &other, 1, ncclNumTypes, 0, 0), "datatype 12 does not exist");
  EXPECT_EQ(fault(Pattern::kAlltoAll, &value, &other, std::uint64_t{1} << 48, ncclInt8, 0, 0),
            "count is too large");
  EXPECT_EQ(fault(Pattern::kAlltoAll, nullptr, &other, 1, ncclInt32, 0, 0), "sendbuff is null");
  EXPECT_EQ(fault(Pattern::kGather, &value, nullptr, 1, ncclInt32, 1, 1), "recvbuff is null");
  EXPECT_EQ(fault(Pattern::kGather, &value, nullptr, 1, ncclInt32, 1, 0), "");
  EXPECT_EQ(fault(Pattern::kScatter, nullptr, &value, 1, ncclInt32, 1, 1), "sendbuff is null");
  EXPECT_EQ(fault(Pattern::kScatter, nullptr, &value, 1, ncclInt32, 1, 0), "");
  EXPECT_EQ(fault(Pattern::kAlltoAll, &value, &value, 1, ncclInt32, 0, 0),
            "expected a recvbuff other than sendbuff, because there is no in-place form, got the same");
  EXPECT_EQ(FindFault({Pattern::kAlltoAll, &value, &value, 1, ncclInt32, 0}, 0, 1), "");
}

}  // namespace
}  // namespace simgpu::nccl

#include "simgpu/nccl/ring.h"

#include <algorithm>

namespace simgpu::nccl {

namespace {

int Modulo(int value, int ranks) { return ((value % ranks) + ranks) % ranks; }

// Adds n - 1 steps. Step s sends chunk `first` - s and receives chunk `first` - s - 1.
void AddTurns(Plan& plan, const std::vector<Range>& chunks, int first, bool fold, bool average) {
  const int ranks = static_cast<int>(chunks.size());
  for (int s = 0; s < ranks - 1; ++s) {
    const auto send = static_cast<std::size_t>(Modulo(first - s, ranks));
    const auto recv = static_cast<std::size_t>(Modulo(first - s - 1, ranks));
    plan.steps.push_back({chunks[send], chunks[recv], fold, average && s == ranks - 2});
  }
}

// Adds the steps of a chain: the whole buffer travels from `first` along the ring to the rank before it.
void AddChain(Plan& plan, int rank, int ranks, int first, bool fold, bool average) {
  const Range all{0, plan.staging_bytes};
  const bool is_first = rank == first;
  const bool is_last = Modulo(rank + 1, ranks) == first;
  if (!is_first) plan.steps.push_back({{}, all, fold, average && is_last});
  if (!is_last) plan.steps.push_back({all, {}, false, false});
}

std::vector<Range> Chunks(std::uint64_t count, std::uint64_t element, int ranks) {
  std::vector<Range> chunks;
  for (int c = 0; c < ranks; ++c) {
    chunks.push_back(Part(count, element, static_cast<std::uint64_t>(c), static_cast<std::uint64_t>(ranks)));
  }
  return chunks;
}

}  // namespace

Range Part(std::uint64_t count, std::uint64_t element, std::uint64_t index, std::uint64_t parts) {
  const std::uint64_t base = count / parts;
  const std::uint64_t larger = count % parts;  // the first parts have one element more
  const std::uint64_t begin = base * index + std::min(index, larger);
  const std::uint64_t size = base + (index < larger ? 1 : 0);
  return {begin * element, size * element};
}

Plan MakePlan(const Call& call, int rank, int ranks) {
  const std::uint64_t element = SizeOf(call.type);
  const std::uint64_t bytes = call.count * element;
  const bool average = call.op == ncclAvg;
  Plan plan;
  plan.staging_bytes = std::max(SendBytes(call, ranks), RecvBytes(call, ranks));
  plan.input = plan.output = {0, plan.staging_bytes};
  switch (call.function) {
    case Function::kAllReduce: {
      const auto chunks = Chunks(call.count, element, ranks);
      AddTurns(plan, chunks, rank, true, average);
      AddTurns(plan, chunks, rank + 1, false, false);
      break;
    }
    case Function::kReduceScatter:
      AddTurns(plan, Chunks(call.count * static_cast<std::uint64_t>(ranks), element, ranks), rank - 1, true,
               average);
      plan.output = {static_cast<std::uint64_t>(rank) * bytes, bytes};
      break;
    case Function::kAllGather:
      AddTurns(plan, Chunks(call.count * static_cast<std::uint64_t>(ranks), element, ranks), rank, false,
               false);
      plan.input = {static_cast<std::uint64_t>(rank) * bytes, bytes};
      break;
    case Function::kBroadcast:
      AddChain(plan, rank, ranks, call.root, false, false);
      if (rank != call.root) plan.input = {};
      break;
    case Function::kReduce:
      AddChain(plan, rank, ranks, Modulo(call.root + 1, ranks), true, average);
      if (rank != call.root) plan.output = {};
      break;
    case Function::kSend:
    case Function::kRecv:
      break;  // the caller must not pass these
  }
  return plan;
}

std::uint64_t Sendable(const Plan& plan, std::size_t step, std::size_t recv_step, std::uint64_t recv_bytes) {
  const Range& send = plan.steps[step].send;
  const bool forwards = step > 0 && plan.steps[step - 1].recv == send;
  if (!forwards || recv_step >= step) return send.bytes;
  return recv_step == step - 1 ? std::min(recv_bytes, send.bytes) : 0;
}

}  // namespace simgpu::nccl

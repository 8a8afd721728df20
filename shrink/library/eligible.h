// Decides which calls are narrowed. Pure values.
//
// A rank never decides alone: the answer depends only on what NCCL demands to be equal on all ranks of a
// communicator (the sequence of its calls, each with function, type, operator and count, and which of them
// are in one group), and on the verdict. What else is in a group does not count: it may differ among ranks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crossover::shrink::library {

enum class Function : std::uint8_t { kAllReduce, kBroadcast, kReduce, kAllGather, kReduceScatter };

// A Call is what decides. Its numbers are those of NCCL.
struct Call {
  Function function = Function::kAllReduce;
  int type = 0;  // ncclDataType_t
  int op = 0;    // ncclRedOp_t
  std::size_t count = 0;
};

inline constexpr int kInt8 = 0, kFloat32 = 7, kBfloat16 = 9;  // ncclDataType_t
inline constexpr int kSum = 0, kAvg = 4;                      // ncclRedOp_t
inline constexpr std::size_t kLeastCount = 65'536;

// A WhyPlain says why a call is not narrowed.
enum class WhyPlain : std::uint8_t {
  kNone,
  kFunction,
  kOperator,
  kType,
  kCount,
  kBudget,
  kCapture,
  kVerdict,
  kCommunicator
};

// Returns why a call would not be narrowed whatever the communicator is, or kNone.
constexpr WhyPlain WhyNot(const Call& call) {
  if (call.function != Function::kAllReduce) return WhyPlain::kFunction;
  if (call.op != kSum && call.op != kAvg) return WhyPlain::kOperator;
  if (call.type != kFloat32) return WhyPlain::kType;
  return call.count < kLeastCount ? WhyPlain::kCount : WhyPlain::kNone;
}

// Returns how many bytes of the communicator's buffer a narrowed call takes: two for each element, and the
// next call begins where any access is aligned. REQUIRES: WhyNot() is kNone.
constexpr std::uint64_t BufferBytes(std::size_t count) {
  constexpr std::uint64_t kAlignment = 512;
  return (std::uint64_t{count} * 2 + kAlignment - 1) / kAlignment * kAlignment;
}

constexpr const char* Words(WhyPlain why) {
  switch (why) {
    case WhyPlain::kNone:
      return "would be narrowed";
    case WhyPlain::kFunction:
      return "plain: not an all-reduce";
    case WhyPlain::kOperator:
      return "plain: neither sum nor average";
    case WhyPlain::kType:
      return "plain: not float32";
    case WhyPlain::kCount:
      return "plain: fewer than 65536 elements";
    case WhyPlain::kBudget:
      return "plain: more than the budget holds";
    case WhyPlain::kCapture:
      return "plain: captured into a graph";
    case WhyPlain::kVerdict:
      return "plain: its communicator is not compressed";
    case WhyPlain::kCommunicator:
      return "plain: its communicator has one rank, does not block, or was made in a group or on a second "
             "GPU";
  }
  return "?";
}

constexpr const char* Words(Function function) {
  constexpr const char* kNames[] = {"all_reduce", "broadcast", "reduce", "all_gather", "reduce_scatter"};
  return kNames[static_cast<std::size_t>(function)];
}

}  // namespace crossover::shrink::library

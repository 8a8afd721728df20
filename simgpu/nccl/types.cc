#include "simgpu/nccl/types.h"

#include <array>

namespace simgpu::nccl {

namespace {

struct Type {
  const char* name;
  std::size_t size;
};

constexpr std::array<Type, ncclNumTypes> kTypes{{{"int8", 1},
                                                 {"uint8", 1},
                                                 {"int32", 4},
                                                 {"uint32", 4},
                                                 {"int64", 8},
                                                 {"uint64", 8},
                                                 {"float16", 2},
                                                 {"float32", 4},
                                                 {"float64", 8},
                                                 {"bfloat16", 2},
                                                 {"float8e4m3", 1},
                                                 {"float8e5m2", 1}}};
constexpr std::array<const char*, ncclNumOps> kOps{"sum", "prod", "max", "min", "avg"};
constexpr std::array<const char*, kFunctions> kFunctionNames{
    "AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "Send", "Recv"};

}  // namespace

const char* Name(Function function) {
  const auto index = static_cast<std::size_t>(function);
  return index < kFunctionNames.size() ? kFunctionNames[index] : "unknown function";
}

const char* Name(ncclDataType_t type) {
  const auto index = static_cast<std::size_t>(type);
  return index < kTypes.size() ? kTypes[index].name : "unknown type";
}

const char* Name(ncclRedOp_t op) {
  const auto index = static_cast<std::size_t>(op);
  return index < kOps.size() ? kOps[index] : "unknown operator";
}

std::string Describe(const Call& call) {
  std::string text = Name(call.function);
  text += "(count=" + std::to_string(call.count) + ", " + Name(call.type);
  if (Reduces(call.function)) text += std::string(", ") + Name(call.op);
  if (call.root >= 0) {
    text += IsPointToPoint(call.function) ? ", peer " : ", root ";
    text += std::to_string(call.root);
  }
  return text + ")";
}

std::size_t SizeOf(ncclDataType_t type) {
  const auto index = static_cast<std::size_t>(type);
  return index < kTypes.size() ? kTypes[index].size : 0;
}

bool CanReduce(ncclDataType_t type) {
  return SizeOf(type) > 0 && type != ncclFloat8e4m3 && type != ncclFloat8e5m2;
}

std::uint64_t SendBytes(const Call& call, int ranks) {
  const std::uint64_t bytes = call.count * SizeOf(call.type);
  if (call.function == Function::kRecv) return 0;
  return call.function == Function::kReduceScatter ? bytes * static_cast<std::uint64_t>(ranks) : bytes;
}

std::uint64_t RecvBytes(const Call& call, int ranks) {
  const std::uint64_t bytes = call.count * SizeOf(call.type);
  if (call.function == Function::kSend) return 0;
  return call.function == Function::kAllGather ? bytes * static_cast<std::uint64_t>(ranks) : bytes;
}

}  // namespace simgpu::nccl

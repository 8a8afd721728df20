// Names, sizes and validity of NCCL's data types, reduction operators and functions. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "simgpu/nccl/nccl.h"

namespace simgpu::nccl {

// What a call asks for. The values travel on the wire.
enum class Function : std::uint32_t {
  kAllReduce,
  kBroadcast,
  kReduce,
  kAllGather,
  kReduceScatter,
  kSend,
  kRecv,
};
inline constexpr std::uint32_t kFunctions = 7;

constexpr bool IsPointToPoint(Function f) { return f == Function::kSend || f == Function::kRecv; }
constexpr bool Reduces(Function f) {
  return f == Function::kAllReduce || f == Function::kReduce || f == Function::kReduceScatter;
}

// One call, as every rank of the communicator must make it. For point to point `root` is the peer.
struct Call {
  Function function = Function::kAllReduce;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  std::int32_t root = -1;   // -1 where the function has none
  std::uint64_t count = 0;  // elements, in the meaning of the function's own count argument

  bool operator==(const Call&) const = default;
};

const char* Name(Function function);
const char* Name(ncclDataType_t type);
const char* Name(ncclRedOp_t op);

// "AllReduce(count=1024, float32, sum)"
std::string Describe(const Call& call);

// Bytes of one element; 0 for a type that does not exist.
std::size_t SizeOf(ncclDataType_t type);

// True where the arithmetic is implemented: all but the 8-bit floats.
bool CanReduce(ncclDataType_t type);

// Bytes that `call` reads from sendbuff and writes to recvbuff on one of `ranks` ranks.
std::uint64_t SendBytes(const Call& call, int ranks);
std::uint64_t RecvBytes(const Call& call, int ranks);

}  // namespace simgpu::nccl

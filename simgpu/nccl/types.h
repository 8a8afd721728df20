// Names NCCL's data types, reduction operators and functions, and knows their sizes and which are valid.
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "simgpu/nccl/nccl.h"

namespace simgpu::nccl {

// Function is what a call asks for. The values travel on the wire.
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

// A Call is one call, as every rank of the communicator must make it. For point to point, `root` is the
// peer.
struct Call {
  Function function = Function::kAllReduce;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  std::int32_t root = -1;   // -1 if the function has no root
  std::uint64_t count = 0;  // elements, as the function's own count argument counts them

  bool operator==(const Call&) const = default;
};

const char* Name(Function function);
const char* Name(ncclDataType_t type);
const char* Name(ncclRedOp_t op);

// Returns a text such as "AllReduce(count=1024, float32, sum)".
std::string Describe(const Call& call);

// Returns the bytes of one element, or 0 for a type that does not exist.
std::size_t SizeOf(ncclDataType_t type);

// Returns true if the arithmetic of the type is implemented: all types except the 8-bit floats.
bool CanReduce(ncclDataType_t type);

// These return how many bytes `call` reads from sendbuff, or writes to recvbuff, on one of `ranks` ranks.
std::uint64_t SendBytes(const Call& call, int ranks);
std::uint64_t RecvBytes(const Call& call, int ranks);

}  // namespace simgpu::nccl

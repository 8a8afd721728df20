// Exchanges a value between the hosts of all ranks of a communicator.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "simgpu/nccl/comm.h"
#include "simgpu/nccl/log.h"

namespace simgpu::nccl {

// Gives every rank the values of all ranks, in rank order. Blocks until all ranks have called it. Fails if
// another rank makes another call than `function`. T is trivially copyable.
template <typename T>
ncclResult_t GatherOnHosts(const char* function, ncclComm* comm, const T& mine, std::vector<T>* all) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&mine);
  std::vector<std::vector<std::byte>> raw;
  const ncclResult_t result = comm->GatherOnHost({bytes, bytes + sizeof mine}, &raw);
  if (result != ncclSuccess) return result;
  all->resize(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i].size() != sizeof(T))
      return Refuse(ncclInvalidUsage, std::string("a rank makes another call than ") + function);
    std::memcpy(&(*all)[i], raw[i].data(), sizeof(T));
  }
  return ncclSuccess;
}

}  // namespace simgpu::nccl

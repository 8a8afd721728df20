// Loads NCCL as a program finds it: libnccl.so.2 at run time. Every failure ends the program and names
// itself.
#pragma once

#include "simgpu/nccl/nccl.h"

namespace crossover::bench {

struct Nccl {
  decltype(&::ncclGetUniqueId) get_unique_id;
  decltype(&::ncclCommInitRank) comm_init_rank;
  decltype(&::ncclAllReduce) all_reduce;
  decltype(&::ncclCommDestroy) comm_destroy;
  decltype(&::ncclGetErrorString) get_error_string;
  decltype(&::ncclGetLastError) get_last_error;
};

// Returns NCCL's functions. The first call loads the library.
const Nccl& TheNccl();
// Ends the program with NCCL's error text unless `result` is ncclSuccess.
void CheckNccl(ncclResult_t result, const char* what);

}  // namespace crossover::bench

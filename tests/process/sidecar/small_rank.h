// Runs one rank of a small job of two. The library finds turns in its iterations.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <string>

#include "simgpu/nccl/nccl.h"
#include "tests/process/sidecar/rendezvous.h"

enum class Exchange { kAlltoAll, kGather, kScatter };

// Each iteration computes in three kernels of 2 ms, and reduces on another stream. A call that fails ends
// the program. REQUIRES: the device of the rank is in use. Not thread-safe.
class SmallRank {
 public:
  // Rank 0 leaves the unique id in the file `ids`.
  SmallRank(int rank, const std::string& ids) {
    MUST(ncclCommInitRank(&comm_, kRanks, Share(&ncclGetUniqueId, ids, rank), rank));
    for (CUstream* stream : {&compute_, &side_}) MUST(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&gradients_, kCount * sizeof(int)));
    CUmodule module = nullptr;
    MUST(cuModuleLoadData(&module, "// simgpu 1\nkernel timed ns=arg sms=132\n"));
    MUST(cuModuleGetFunction(&timed_, module, "timed"));
  }

  void Compute() {
    unsigned long long ns = 2'000'000;
    void* parameters[] = {&ns};
    MUST(cuLaunchKernel(timed_, 1, 1, 1, 32, 1, 1, 0, compute_, parameters, nullptr));
  }
  ncclResult_t Reduce() {
    const auto data = reinterpret_cast<int*>(gradients_);
    return ncclAllReduce(data, data, kCount, ncclInt32, ncclSum, comm_, side_);
  }
  // Sends from the first half of the data to the second.
  ncclResult_t Move(Exchange exchange) {
    const auto from = reinterpret_cast<int*>(gradients_);
    int* const to = from + kCount / 2;
    constexpr std::size_t kBlock = kCount / 2 / kRanks;
    switch (exchange) {
      case Exchange::kAlltoAll:
        return ncclAlltoAll(from, to, kBlock, ncclInt32, comm_, side_);
      case Exchange::kGather:
        return ncclGather(from, to, kBlock, ncclInt32, 0, comm_, side_);
      default:
        return ncclScatter(from, to, kBlock, ncclInt32, 0, comm_, side_);
    }
  }
  void Synchronize() { MUST(cuStreamSynchronize(compute_)); }
  // Synchronizes in each iteration, as for the loss. A host that runs ahead would end before the library
  // watches.
  void Train(int iterations) {
    for (int i = 0; i < iterations; ++i) {
      for (int layer = 0; layer < 3; ++layer) Compute();
      Order(compute_, side_);
      MUST(Reduce());
      Order(side_, compute_);
      Synchronize();
    }
  }
  void Leave() { MUST(ncclCommDestroy(comm_)); }

  CUstream side() const { return side_; }  // of the collectives

 private:
  static constexpr int kRanks = 2;
  static constexpr std::size_t kCount = 4096;

  void Order(CUstream first, CUstream then) {
    MUST(cuEventRecord(event_, first));
    MUST(cuStreamWaitEvent(then, event_, 0));
  }

  ncclComm_t comm_ = nullptr;
  CUstream compute_ = nullptr, side_ = nullptr;
  CUevent event_ = nullptr;
  CUdeviceptr gradients_ = 0;
  CUfunction timed_ = nullptr;
};

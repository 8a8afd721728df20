// Wraps the NCCL communicator of the job, or two of them, and those of some of its ranks. Every collective is
// in a group of its own, as in PyTorch. One thread uses it; only Abort() may be called from another. Calls
// throw Failure.
#pragma once

#include <nccl.h>

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "examples/trainer/options.h"

namespace crossover::trainer {

class Communicator {
 public:
  // Blocks until all ranks have come. `job`: see ShareFromRankZero().
  Communicator(const Rank& rank, std::uint64_t job, NcclUse use);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  // These work in place, on float32.
  void AllReduceSum(float* data, std::size_t count, cudaStream_t stream);
  void AllReduceMin(float* data, std::size_t count, cudaStream_t stream);
  void BroadcastFromRankZero(float* data, std::size_t count, cudaStream_t stream);
  // These take `count` floats from each rank, or give as many to each.
  void AllGather(const float* mine, float* all, std::size_t count, cudaStream_t stream);
  void ReduceScatterSum(const float* all, float* mine, std::size_t count, cudaStream_t stream);

  // Sends to[r] floats to each rank r, and receives from[r] floats from it, all in one group. What is sent
  // and what is received lie in the order of the ranks.
  void Exchange(const float* sent, const std::vector<std::size_t>& to, float* received,
                const std::vector<std::size_t>& from, cudaStream_t stream);

  // Makes a communicator of the ranks that give the same `color`, in their order. All ranks call this at the
  // same time; those with color -1 are in none. Returns its number for the functions below.
  std::size_t Split(int color);
  // These exchange floats with a rank of such a communicator, which numbers its own ranks from 0.
  void Send(std::size_t split, int to, const float* data, std::size_t count, cudaStream_t stream);
  void Receive(std::size_t split, int from, float* data, std::size_t count, cudaStream_t stream);
  // Broadcasts floats to all ranks of such a communicator, or adds them up. Broadcast() reads `from` on
  // `root` alone, and writes `to` on all. ReduceSum() writes `to` on `root` alone. AllReduceSum() works in
  // place.
  void Broadcast(std::size_t split, int root, const float* from, float* to, std::size_t count,
                 cudaStream_t stream);
  void ReduceSum(std::size_t split, int root, const float* from, float* to, std::size_t count,
                 cudaStream_t stream);
  void AllReduceSum(std::size_t split, float* data, std::size_t count, cudaStream_t stream);
  // These do among the ranks of such a communicator what their namesakes do. Exchange() takes bytes.
  // AllReduceSumBf16() works in place, on bf16.
  void Exchange(std::size_t split, const std::uint8_t* sent, const std::vector<std::size_t>& to,
                std::uint8_t* received, const std::vector<std::size_t>& from, cudaStream_t stream);
  void AllGather(std::size_t split, const float* mine, float* all, std::size_t count, cudaStream_t stream);
  void ReduceScatterSum(std::size_t split, const float* all, float* mine, std::size_t count,
                        cudaStream_t stream);
  void AllReduceSumBf16(std::size_t split, std::uint16_t* data, std::size_t count, cudaStream_t stream);

  // Aborts the communicator and makes another, as elastic jobs do. REQUIRES: no collective is under way.
  void Renew();

  // Ends collectives that wait for ranks that will not come.
  void Abort();

 private:
  using AllReduceConfig = ncclResult_t (*)(const void*, void*, std::size_t, ncclDataType_t, ncclRedOp_t,
                                           ncclComm_t, cudaStream_t, const void* settings);

  using Ids = std::array<ncclUniqueId, 2>;  // IDs for as many communicators as there may be

  Ids Agree() const;
  void Create(const Ids& ids);
  ncclComm_t Join(const ncclUniqueId& id) const;
  // Blocks until the result of a call on `comm` is known, and returns it.
  ncclResult_t Await(ncclComm_t comm, ncclResult_t result) const;
  // Does what Exchange() says, for elements of a type.
  template <typename T>
  void ExchangeIn(ncclComm_t comm, ncclDataType_t type, const T* sent, const std::vector<std::size_t>& to,
                  T* received, const std::vector<std::size_t>& from, cudaStream_t stream);
  template <typename Call>
  void InGroup(ncclComm_t comm, const char* name, Call call);

  const Rank& rank_;
  const std::uint64_t job_;
  const NcclUse use_;
  AllReduceConfig all_reduce_config_ = nullptr;
  ncclComm_t comm_ = nullptr;
  ncclComm_t broadcasts_ = nullptr;  // equal to comm_, or a separate communicator
  std::vector<ncclComm_t> splits_;   // null: this rank is not in it
  std::mutex mutex_;
  bool aborted_ = false;
};

}  // namespace crossover::trainer

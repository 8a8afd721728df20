#include "examples/trainer/communicator.h"

#include <dlfcn.h>

#include <chrono>
#include <span>
#include <string>
#include <thread>

#include "examples/trainer/failure.h"
#include "examples/trainer/rendezvous.h"

namespace crossover::trainer {
namespace {

void Check(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  const std::string text = std::string(call) + ": " + ncclGetErrorString(result);
  if (result == ncclRemoteError) throw RankLost(text);
  throw Failure(text);
}

}  // namespace

Communicator::Communicator(const Rank& rank, std::uint64_t job, NcclUse use)
    : rank_(rank), job_(job), use_(use) {
  if (use == NcclUse::kConfig) {
    all_reduce_config_ = reinterpret_cast<AllReduceConfig>(::dlsym(RTLD_DEFAULT, "ncclAllReduceConfig"));
    if (all_reduce_config_ == nullptr)
      throw Failure("--nccl=config: this NCCL has no ncclAllReduceConfig", 2);
  }
  Create(Agree());
}

Communicator::~Communicator() {
  const std::lock_guard lock(mutex_);
  if (aborted_) return;
  for (ncclComm_t split : splits_) {
    if (split != nullptr) ncclCommDestroy(split);
  }
  if (broadcasts_ != comm_) ncclCommDestroy(broadcasts_);
  ncclCommDestroy(comm_);
}

Communicator::Ids Communicator::Agree() const {
  Ids ids = {};
  if (rank_.rank == 0) {
    for (ncclUniqueId& id : ids) Check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  }
  ShareFromRankZero(rank_, job_, std::span(reinterpret_cast<char*>(ids.data()), sizeof ids));
  return ids;
}

void Communicator::Create(const Ids& ids) {
  comm_ = Join(ids[0]);
  broadcasts_ = use_ == NcclUse::kTwo ? Join(ids[1]) : comm_;
  if (use_ != NcclUse::kSplit) return;
  ncclComm_t whole = comm_;
  Check(ncclCommSplit(whole, 0, static_cast<int>(rank_.rank), &comm_, nullptr), "ncclCommSplit");
  Check(ncclCommDestroy(whole), "ncclCommDestroy");
  broadcasts_ = comm_;
}

ncclComm_t Communicator::Join(const ncclUniqueId& id) const {
  ncclComm_t comm = nullptr;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = use_ == NcclUse::kNonBlocking ? 0 : 1;
  const auto world = static_cast<int>(rank_.world);
  const auto rank = static_cast<int>(rank_.rank);
  if (use_ == NcclUse::kPlain) {
    Check(ncclCommInitRank(&comm, world, id, rank), "ncclCommInitRank");
  } else {
    const ncclResult_t result = ncclCommInitRankConfig(&comm, world, id, rank, &config);
    Check(Await(comm, result), "ncclCommInitRankConfig");
  }
  return comm;
}

ncclResult_t Communicator::Await(ncclComm_t comm, ncclResult_t result) const {
  while (result == ncclInProgress) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    Check(ncclCommGetAsyncError(comm, &result), "ncclCommGetAsyncError");
  }
  return result;
}

template <typename Call>
void Communicator::InGroup(ncclComm_t comm, const char* name, Call call) {
  Check(ncclGroupStart(), "ncclGroupStart");
  const ncclResult_t result = call();
  if (result != ncclInProgress) Check(result, name);
  Check(Await(comm, ncclGroupEnd()), "ncclGroupEnd");
}

void Communicator::AllReduceSum(float* data, std::size_t count, cudaStream_t stream) {
  InGroup(comm_, "ncclAllReduce", [&] {
    return all_reduce_config_ != nullptr
               ? all_reduce_config_(data, data, count, ncclFloat32, ncclSum, comm_, stream, nullptr)
               : ncclAllReduce(data, data, count, ncclFloat32, ncclSum, comm_, stream);
  });
}

void Communicator::AllReduceMin(float* data, std::size_t count, cudaStream_t stream) {
  InGroup(comm_, "ncclAllReduce",
          [&] { return ncclAllReduce(data, data, count, ncclFloat32, ncclMin, comm_, stream); });
}

void Communicator::BroadcastFromRankZero(float* data, std::size_t count, cudaStream_t stream) {
  InGroup(broadcasts_, "ncclBroadcast",
          [&] { return ncclBroadcast(data, data, count, ncclFloat32, 0, broadcasts_, stream); });
}

void Communicator::AllGather(const float* mine, float* all, std::size_t count, cudaStream_t stream) {
  InGroup(comm_, "ncclAllGather",
          [&] { return ncclAllGather(mine, all, count, ncclFloat32, comm_, stream); });
}

void Communicator::ReduceScatterSum(const float* all, float* mine, std::size_t count, cudaStream_t stream) {
  InGroup(comm_, "ncclReduceScatter",
          [&] { return ncclReduceScatter(all, mine, count, ncclFloat32, ncclSum, comm_, stream); });
}

template <typename T>
void Communicator::ExchangeIn(ncclComm_t comm, ncclDataType_t type, const T* sent,
                              const std::vector<std::size_t>& to, T* received,
                              const std::vector<std::size_t>& from, cudaStream_t stream) {
  InGroup(comm, "ncclSend and ncclRecv", [&] {
    ncclResult_t result = ncclSuccess;
    for (std::size_t rank = 0; rank < to.size() && result == ncclSuccess; ++rank) {
      const auto peer = static_cast<int>(rank);
      if (to[rank] > 0) result = ncclSend(sent, to[rank], type, peer, comm, stream);
      if (from[rank] > 0 && result == ncclSuccess)
        result = ncclRecv(received, from[rank], type, peer, comm, stream);
      sent += to[rank];
      received += from[rank];
    }
    return result;
  });
}

void Communicator::Exchange(const float* sent, const std::vector<std::size_t>& to, float* received,
                            const std::vector<std::size_t>& from, cudaStream_t stream) {
  ExchangeIn(comm_, ncclFloat32, sent, to, received, from, stream);
}

std::size_t Communicator::Split(int color) {
  ncclComm_t split = nullptr;
  Check(ncclCommSplit(comm_, color, static_cast<int>(rank_.rank), &split, nullptr), "ncclCommSplit");
  const std::lock_guard lock(mutex_);
  splits_.push_back(split);
  return splits_.size() - 1;
}

void Communicator::Send(std::size_t split, int to, const float* data, std::size_t count,
                        cudaStream_t stream) {
  InGroup(splits_[split], "ncclSend",
          [&] { return ncclSend(data, count, ncclFloat32, to, splits_[split], stream); });
}

void Communicator::Receive(std::size_t split, int from, float* data, std::size_t count, cudaStream_t stream) {
  InGroup(splits_[split], "ncclRecv",
          [&] { return ncclRecv(data, count, ncclFloat32, from, splits_[split], stream); });
}

void Communicator::Broadcast(std::size_t split, int root, const float* from, float* to, std::size_t count,
                             cudaStream_t stream) {
  InGroup(splits_[split], "ncclBroadcast",
          [&] { return ncclBroadcast(from, to, count, ncclFloat32, root, splits_[split], stream); });
}

void Communicator::ReduceSum(std::size_t split, int root, const float* from, float* to, std::size_t count,
                             cudaStream_t stream) {
  InGroup(splits_[split], "ncclReduce",
          [&] { return ncclReduce(from, to, count, ncclFloat32, ncclSum, root, splits_[split], stream); });
}

void Communicator::AllReduceSum(std::size_t split, float* data, std::size_t count, cudaStream_t stream) {
  InGroup(splits_[split], "ncclAllReduce",
          [&] { return ncclAllReduce(data, data, count, ncclFloat32, ncclSum, splits_[split], stream); });
}

void Communicator::Exchange(std::size_t split, const std::uint8_t* sent, const std::vector<std::size_t>& to,
                            std::uint8_t* received, const std::vector<std::size_t>& from,
                            cudaStream_t stream) {
  ExchangeIn(splits_[split], ncclUint8, sent, to, received, from, stream);
}

void Communicator::AllGather(std::size_t split, const float* mine, float* all, std::size_t count,
                             cudaStream_t stream) {
  InGroup(splits_[split], "ncclAllGather",
          [&] { return ncclAllGather(mine, all, count, ncclFloat32, splits_[split], stream); });
}

void Communicator::ReduceScatterSum(std::size_t split, const float* all, float* mine, std::size_t count,
                                    cudaStream_t stream) {
  InGroup(splits_[split], "ncclReduceScatter",
          [&] { return ncclReduceScatter(all, mine, count, ncclFloat32, ncclSum, splits_[split], stream); });
}

void Communicator::AllReduceSumBf16(std::size_t split, std::uint16_t* data, std::size_t count,
                                    cudaStream_t stream) {
  InGroup(splits_[split], "ncclAllReduce",
          [&] { return ncclAllReduce(data, data, count, ncclBfloat16, ncclSum, splits_[split], stream); });
}

// Aborts only once all ranks have come this far: before that, a rank may still need its last result.
void Communicator::Renew() {
  const Ids ids = Agree();
  Abort();
  const std::lock_guard lock(mutex_);
  Create(ids);
  aborted_ = false;
}

void Communicator::Abort() {
  const std::lock_guard lock(mutex_);
  if (aborted_) return;
  aborted_ = true;
  for (ncclComm_t split : splits_) {
    if (split != nullptr) ncclCommAbort(split);
  }
  if (broadcasts_ != comm_) ncclCommAbort(broadcasts_);
  ncclCommAbort(comm_);
}

}  // namespace crossover::trainer

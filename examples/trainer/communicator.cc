#include "examples/trainer/communicator.h"

#include <string>

#include "examples/trainer/failure.h"
#include "examples/trainer/rendezvous.h"

namespace crossover::trainer {
namespace {

void Check(ncclResult_t result, const char* call) {
  if (result != ncclSuccess) throw Failure(std::string(call) + ": " + ncclGetErrorString(result));
}

}  // namespace

Communicator::Communicator(const Rank& rank, std::uint64_t job) {
  ncclUniqueId id{};
  if (rank.rank == 0) Check(ncclGetUniqueId(&id), "ncclGetUniqueId");
  ShareFromRankZero(rank, job, id.internal);
  Check(ncclCommInitRank(&comm_, static_cast<int>(rank.world), id, static_cast<int>(rank.rank)),
        "ncclCommInitRank");
}

Communicator::~Communicator() {
  const std::lock_guard lock(mutex_);
  if (!aborted_) ncclCommDestroy(comm_);
}

void Communicator::AllReduceSum(float* data, std::size_t count, cudaStream_t stream) {
  Check(ncclGroupStart(), "ncclGroupStart");
  Check(ncclAllReduce(data, data, count, ncclFloat32, ncclSum, comm_, stream), "ncclAllReduce");
  Check(ncclGroupEnd(), "ncclGroupEnd");
}

void Communicator::BroadcastFromRankZero(float* data, std::size_t count, cudaStream_t stream) {
  Check(ncclGroupStart(), "ncclGroupStart");
  Check(ncclBroadcast(data, data, count, ncclFloat32, 0, comm_, stream), "ncclBroadcast");
  Check(ncclGroupEnd(), "ncclGroupEnd");
}

void Communicator::Abort() {
  const std::lock_guard lock(mutex_);
  if (aborted_) return;
  aborted_ = true;
  ncclCommAbort(comm_);
}

}  // namespace crossover::trainer

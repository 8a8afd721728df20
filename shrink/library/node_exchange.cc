#include "shrink/library/node_exchange.h"

#include <unistd.h>

#include <span>

#include "shrink/kernels/q8_threads.h"
#include "shrink/library/eligible.h"
#include "shrink/library/exchange_run.h"
#include "shrink/library/node_name.h"
#include "shrink/library/state.h"
#include "shrink/meeting/array.h"
#include "shrink/meeting/sockets.h"

namespace crossover::shrink::library {
namespace {

using hooks::kNcclSuccess;
using hooks::kNcclSystemError;
using vote::MakeReason;

constexpr std::uint32_t kLimitMs = 60'000;

// Returns what NCCL says of a communicator, or the error of the question.
NcclResult StateOf(const InnerNccl& nccl, NcclComm comm) {
  NcclResult state = kNcclSuccess;
  const NcclResult asked = nccl.async_error(comm, &state);
  return asked != kNcclSuccess ? asked : state;
}

// A TemporaryStream is there until the end of its scope.
class TemporaryStream {
 public:
  explicit TemporaryStream(const Driver* driver) : driver_(driver) {
    if (driver != nullptr && driver->StreamCreate(&stream_, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS)
      stream_ = nullptr;
  }
  ~TemporaryStream() {
    if (stream_ != nullptr) driver_->StreamDestroy(stream_);
  }
  TemporaryStream(const TemporaryStream&) = delete;
  TemporaryStream& operator=(const TemporaryStream&) = delete;

  CUstream get() const { return stream_; }
  // Waits for all work of the stream. Returns the failure of the work or of the communicator. A rank that has
  // died may leave a kernel of NCCL waiting, which nothing tells: so this waits for kLimitMs at most.
  NcclResult Settle(const InnerNccl& nccl, NcclComm comm) const {
    const std::int64_t deadline = meeting::DeadlineIn(kLimitMs);
    for (;;) {
      const CUresult work = driver_->StreamQuery(stream_);
      if (const NcclResult state = StateOf(nccl, comm); state != kNcclSuccess) return state;
      if (work == CUDA_SUCCESS) return kNcclSuccess;
      if (work != CUDA_ERROR_NOT_READY) return kNcclUnhandledCudaError;
      if (meeting::MsUntil(deadline) == 0) return kNcclRemoteError;
      ::usleep(200);
    }
  }

 private:
  const Driver* driver_;
  CUstream stream_ = nullptr;
};

// Fills in what the other ranks say of themselves.
NcclResult GatherMembers(const InnerNccl& nccl, NcclComm comm, const Buffer& buffer,
                         const TemporaryStream& stream, std::span<Member> members, std::size_t rank) {
  const Driver* driver = DriverOf(Way::kPast);
  const CUdeviceptr own = buffer.At(rank * sizeof(Member));
  if (driver->MemcpyHtoDAsync(own, &members[rank], sizeof(Member), stream.get()) != CUDA_SUCCESS)
    return kNcclUnhandledCudaError;
  InnerGroup group(nccl);
  if (group.Goes())
    group.Add(nccl.all_gather(reinterpret_cast<const void*>(own), reinterpret_cast<void*>(buffer.At(0)),
                              sizeof(Member), kInt8, comm, stream.get()));
  const NcclResult gathered = group.End();
  if (gathered != kNcclSuccess) return gathered;
  if (driver->MemcpyDtoHAsync(members.data(), buffer.At(0), members.size_bytes(), stream.get()) !=
      CUDA_SUCCESS) {
    return kNcclUnhandledCudaError;
  }
  return stream.Settle(nccl, comm);
}

}  // namespace

NodeExchange::Made NodeExchange::Make(NcclComm comm, const Wanted& wanted, Buffer& buffer, std::uint32_t mib,
                                      vote::Reason* reason) {
  const std::size_t ranks = wanted.ranks, rank = wanted.rank;
  const std::uint64_t bytes = std::uint64_t{mib} << 20;
  if (ranks * sizeof(Member) > bytes) {
    *reason = MakeReason("budget: expected %zu bytes for all ranks, got %u MiB", ranks * sizeof(Member), mib);
    return Made::kUnsuitable;
  }
  const InnerNccl* nccl = InnerFunctions();
  const TemporaryStream stream(DriverOf(Way::kPast));
  meeting::Array<Member> room;
  const bool has_room = room.Make(ranks);
  const std::span<Member> members(room.get(), ranks);
  NcclResult result = kNcclSystemError;
  if (nccl != nullptr && stream.get() != nullptr && has_room) {
    members[rank] = {NodeOf(NodeName().view()), wanted.seed, kLayout, wanted.error_percent};
    result = GatherMembers(*nccl, comm, buffer, stream, members, rank);
  }
  if (result == kNcclSuccess) *reason = WhyNotExchanged(wanted.level, members, rank, &position_);
  if (result == kNcclSuccess && !reason->empty()) return Made::kUnsuitable;
  if (result == kNcclSuccess) {
    nccl_ = nccl;
    rounding_.seed = wanted.seed;
    plans_ = wanted.plans;
    error_percent_ = wanted.error_percent;
    result = Split(comm, rank);
  }
  if (result == kNcclSuccess) result = WarmUp(buffer, bytes, stream.get());
  if (result == kNcclSuccess) result = stream.Settle(*nccl, of_place_);
  if (result == kNcclSuccess) return Made::kReady;
  Abort();
  *reason =
      MakeReason("%s: expected communicators of nodes and places, got NCCL's error %d; try again, or bf16",
                 wanted.level, result);
  return Made::kFailed;
}

NcclResult NodeExchange::Split(NcclComm comm, std::size_t rank) {
  const int key = static_cast<int>(rank);
  NcclResult result = kNcclSuccess;
  if (position_.per_node > 1)
    result = nccl_->split(comm, static_cast<int>(position_.node), key, &of_node_, nullptr);
  if (result == kNcclSuccess)
    result = nccl_->split(comm, static_cast<int>(position_.place), key, &of_place_, nullptr);
  return result;
}

// Sums what lies in the buffer, a bucket for each rank, if there is room. Which random numbers it takes does
// not matter.
NcclResult NodeExchange::WarmUp(Buffer& buffer, std::uint64_t bytes, CUstream stream) {
  Step step;
  step.send = step.receive = buffer.At(0);
  step.count = position_.ranks() * kQ8.bucket;
  step.offset = step.count * sizeof(float);
  step.stream = stream;
  if (step.offset + ExchangeBytes(step.count, position_) > bytes) return kNcclSuccess;
  return RunExchange({*nccl_, of_node_, of_place_, position_, rounding_, false}, buffer, step, {});
}

// Waits for work that was queued many calls ago, which is done unless other ranks hang or have died.
NcclResult NodeExchange::Await(CUevent event) const {
  const Driver* driver = DriverOf(Way::kPast);
  for (;;) {
    const CUresult work = driver->EventQuery(event);
    if (work == CUDA_SUCCESS) return kNcclSuccess;
    if (work != CUDA_ERROR_NOT_READY) return kNcclUnhandledCudaError;
    if (const NcclResult state = AsyncError(); state != kNcclSuccess) return state;
    ::usleep(200);
  }
}

NcclResult NodeExchange::NextPlan(const Buffer& buffer, std::uint64_t count, Plan* plan) {
  if (!plans_.is_made()) return kNcclSuccess;
  CUevent before_change = nullptr;
  *plan = plans_.Next(count, position_, buffer, &before_change);
  if (!plan->is_there())
    Warn(Warning::kKinds, "an all-reduce has 8 bits for each element",
         "adaptive: expected at most 64 counts and 256 nodes, got more");
  if (before_change == nullptr) return kNcclSuccess;
  const NcclResult result = Await(before_change);
  if (result == kNcclSuccess) plans_.Change(count, position_, error_percent_, plan);
  return result;
}

NcclResult NodeExchange::Run(Buffer& buffer, const Step& step) {
  Plan plan;
  NcclResult result = NextPlan(buffer, step.count, &plan);
  if (result == kNcclSuccess)
    result = RunExchange({*nccl_, of_node_, of_place_, position_, rounding_, true}, buffer, step, plan);
  ++rounding_.call;
  return result;
}

NcclResult NodeExchange::AsyncError() const {
  for (NcclComm comm : {of_node_, of_place_}) {
    if (comm == nullptr) continue;
    if (const NcclResult state = StateOf(*nccl_, comm); state != kNcclSuccess) return state;
  }
  return kNcclSuccess;
}

void NodeExchange::Destroy() {
  if (of_place_ != nullptr) nccl_->destroy(of_place_);
  if (of_node_ != nullptr) nccl_->destroy(of_node_);
  *this = NodeExchange();
}

// Ends the one between nodes first: what is queued there must not send what an aborted sum has left.
void NodeExchange::Abort() {
  if (of_place_ != nullptr) nccl_->abort(of_place_);
  if (of_node_ != nullptr) nccl_->abort(of_node_);
  *this = NodeExchange();
}

}  // namespace crossover::shrink::library

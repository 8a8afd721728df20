#include "benchmarks/gpu/programs/turn_taker.h"

#include <cstddef>

namespace crossover::bench {
namespace {

constexpr std::uint64_t kAhead = 3;  // turns
constexpr std::int64_t kLookNs = 50'000;

CUevent NewEvent() {
  CUevent event = nullptr;
  Check(Cuda().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  return event;
}

}  // namespace

TurnTaker::TurnTaker(std::int64_t hold_us, std::int64_t look_us)
    : hold_us_(hold_us),
      look_us_(look_us),
      side_(gpu_.NewStream()),
      computed_(NewEvent()),
      reduced_(NewEvent()),
      stamps_(static_cast<Stamps*>(SharedMemory(sizeof(Stamps)))),
      on_device_(Register(stamps_, sizeof(Stamps))) {
  ncclUniqueId id{};
  CheckNccl(TheNccl().get_unique_id(&id), "ncclGetUniqueId");
  CheckNccl(TheNccl().comm_init_rank(&comm_, 2, id, 0), "ncclCommInitRank");
}

TurnTaker::~TurnTaker() {
  gpu_.Synchronize(gpu_.stream());
  TheNccl().comm_destroy(comm_);
}

void TurnTaker::Step() {
  Held& turn = stamps_->turn[steps_ % kKept];
  __atomic_store_n(&turn.left, 0, __ATOMIC_RELEASE);
  // On the software GPU a stamp is a host function, which begins no turn.
  if (!gpu_.computes()) gpu_.Null(gpu_.stream());
  Stamp(&turn.entered);
  gpu_.Work(gpu_.stream(), static_cast<std::uint64_t>(hold_us_) * 1000);
  Stamp(&turn.left);
  while (look_us_ > 0 && !Ended(steps_)) SleepNs(look_us_ * 1000);
  Collective();
  ++steps_;
  while (steps_ > kAhead && !Ended(steps_ - kAhead)) SleepNs(kLookNs);
}

bool TurnTaker::Ended(std::uint64_t step) const {
  return __atomic_load_n(&stamps_->turn[step % kKept].left, __ATOMIC_ACQUIRE) != 0;
}

std::vector<Held> TurnTaker::Between(std::uint64_t first, std::uint64_t last) const {
  std::vector<Held> turns;
  for (std::uint64_t step = first; step < last; ++step) turns.push_back(stamps_->turn[step % kKept]);
  return turns;
}

void TurnTaker::Stamp(const std::int64_t* where) const {
  const auto offset = reinterpret_cast<const std::byte*>(where) - reinterpret_cast<const std::byte*>(stamps_);
  gpu_.Stamp(gpu_.stream(), on_device_ + static_cast<CUdeviceptr>(offset));
}

// Calls a collective on a side stream, as a job with a process group does, and lets compute wait for it.
void TurnTaker::Collective() {
  void* data = stamps_;  // it is not touched
  Check(Cuda().cuEventRecord(computed_, gpu_.stream()), "cuEventRecord");
  Check(Cuda().cuStreamWaitEvent(side_, computed_, 0), "cuStreamWaitEvent");
  CheckNccl(TheNccl().all_reduce(data, data, 1, ncclFloat32, ncclSum, comm_, side_), "ncclAllReduce");
  Check(Cuda().cuEventRecord(reduced_, side_), "cuEventRecord");
  Check(Cuda().cuStreamWaitEvent(gpu_.stream(), reduced_, 0), "cuStreamWaitEvent");
}

}  // namespace crossover::bench

#include "benchmarks/gpu/programs/job.h"

#include <algorithm>
#include <utility>

#include "common/base/clock.h"

namespace crossover::bench {
namespace {

constexpr std::uint32_t kOnes = 0x3f800000;  // 1.0f

CUevent NewEvent() {
  CUevent event = nullptr;
  Check(Cuda().cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  return event;
}

}  // namespace

Job::Job(const JobOptions& options) : options_(options), side_(gpu_.NewStream()) {
  bucket_bytes_ = static_cast<std::size_t>(options.gradient_bytes) / kBuckets / sizeof(float) * sizeof(float);
  Check(Cuda().cuMemAlloc(&gradients_, bucket_bytes_ * kBuckets), "cuMemAlloc");
  Check(Cuda().cuMemsetD32(gradients_, kOnes, bucket_bytes_ * kBuckets / sizeof(float)), "cuMemsetD32");
  ready_ = NewEvent();
  reduced_ = NewEvent();
  for (CUevent& event : step_over_) event = NewEvent();
  ncclUniqueId id{};
  CheckNccl(TheNccl().get_unique_id(&id), "ncclGetUniqueId");
  CheckNccl(TheNccl().comm_init_rank(&comm_, options.ranks, id, 0), "ncclCommInitRank");
}

Job::~Job() {
  gpu_.Synchronize(gpu_.stream());
  gpu_.Synchronize(side_);
  TheNccl().comm_destroy(comm_);
}

void Job::Compute(double share) {
  const double ns = share * static_cast<double>(options_.compute_us) * 1e3 / kKernels;
  for (int i = 0; i < kKernels; ++i) gpu_.Work(gpu_.stream(), static_cast<std::uint64_t>(ns));
}

void Job::Reduce(int bucket, bool joined) {
  void* data = reinterpret_cast<void*>(gradients_ + static_cast<CUdeviceptr>(bucket) * bucket_bytes_);
  Check(Cuda().cuEventRecord(ready_, gpu_.stream()), "cuEventRecord");
  Check(Cuda().cuStreamWaitEvent(side_, ready_, 0), "cuStreamWaitEvent");
  CheckNccl(
      TheNccl().all_reduce(data, data, bucket_bytes_ / sizeof(float), ncclFloat32, ncclSum, comm_, side_),
      "ncclAllReduce");
  if (!joined) return;
  Check(Cuda().cuEventRecord(reduced_, side_), "cuEventRecord");
  Check(Cuda().cuStreamWaitEvent(gpu_.stream(), reduced_, 0), "cuStreamWaitEvent");
}

void Job::Step() {
  Compute(0.3);
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    Compute(0.6 / kBuckets);
    Reduce(bucket, bucket + 1 == kBuckets);
  }
  Compute(0.1);
  Check(Cuda().cuEventRecord(step_over_[steps_ % 2], gpu_.stream()), "cuEventRecord");
  ++steps_;
  if (steps_ > 1) AwaitStep(steps_ - 1);
}

void Job::StepInPart() {
  gpu_.Work(gpu_.stream(), 1000);
  Check(Cuda().cuEventRecord(ready_, gpu_.stream()), "cuEventRecord");
  Check(Cuda().cuEventSynchronize(ready_), "cuEventSynchronize");
  Compute(0.3);
}

// Notes the ends of steps up to `step`. The host notes them; it is never more than one step ahead.
void Job::AwaitStep(std::uint64_t step) {
  while (awaited_ < step) {
    Check(Cuda().cuEventSynchronize(step_over_[awaited_ % 2]), "cuEventSynchronize");
    ends_.push_back(base::MonotonicNs());
    ++awaited_;
  }
}

std::vector<std::int64_t> Job::TakeEnds() {
  AwaitStep(steps_);
  return std::exchange(ends_, {});
}

bool Job::Intact() const {
  std::vector<std::uint32_t> seen(bucket_bytes_ * kBuckets / sizeof(float));
  Check(Cuda().cuMemcpyDtoH(seen.data(), gradients_, seen.size() * sizeof(float)), "cuMemcpyDtoH");
  return std::all_of(seen.begin(), seen.end(), [](std::uint32_t bits) { return bits == kOnes; });
}

}  // namespace crossover::bench

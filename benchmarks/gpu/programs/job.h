// Runs a data-parallel job that has the shape of DistributedDataParallel. This process is rank 0 and the
// only rank with a program (simgpu/nccl/peers.h). The job has compute of a fixed amount, and gradients in
// buckets on a side stream, the last of them after backward.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/nccl.h"

namespace crossover::bench {

struct JobOptions {
  std::int64_t compute_us = 10'000;
  std::int64_t gradient_bytes = 1 << 20;
  int ranks = 2;
};

class Job {
 public:
  explicit Job(const JobOptions& options);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Puts one step on the streams, and waits until the step before it has ended.
  void Step();
  // Waits until the compute of a step has begun, so that its turn is held, and puts more compute on the
  // stream without waiting for it.
  void StepInPart();
  // Waits for all steps. Returns when each ended since the last call, in ns of CLOCK_MONOTONIC.
  std::vector<std::int64_t> TakeEnds();
  // Returns whether the gradients are unchanged: the other ranks must have sent zeros.
  bool Intact() const;

 private:
  static constexpr int kBuckets = 4;
  static constexpr int kKernels = 10;  // per call of Compute()

  void Compute(double share);
  void Reduce(int bucket, bool joined);
  void AwaitStep(std::uint64_t step);

  JobOptions options_;
  RealGpu gpu_;
  CUstream side_;
  ncclComm_t comm_ = nullptr;
  CUdeviceptr gradients_ = 0;
  std::size_t bucket_bytes_ = 0;
  CUevent ready_ = nullptr, reduced_ = nullptr;
  std::array<CUevent, 2> step_over_{};
  std::uint64_t steps_ = 0, awaited_ = 0;
  std::vector<std::int64_t> ends_;
};

}  // namespace crossover::bench

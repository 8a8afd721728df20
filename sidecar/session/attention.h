// The two words that the hooks read before anything else.
#pragma once

#include <atomic>
#include <cstdint>

namespace crossover::session {

// Why a compute launch has to take the slow path; 0 nearly always.
enum Attention : std::uint32_t {
  kAttendLearning = 1,  // notes which streams compute
  kAttendAcquire = 2,   // the launch begins a turn
  kAttendCount = 4,     // launches are counted towards the next yield point: no lock is taken for that
  kAttendKernels =
      8,  // a launch may be one of NCCL's own kernels, and nothing else tells of it: see hooks/nccl_kernels.h
};
// At first nobody knows whether NCCL will be called or is part of the program.
inline constinit std::atomic<std::uint32_t> attention{kAttendKernels};

// Whether calls that order streams are of interest: an arbiter asked us to watch.
inline constinit std::atomic<bool> watching{false};

// Depth of NCCL calls on this thread: what the driver sees inside them is not the user's.
inline thread_local constinit int nccl_depth = 0;

class InsideNccl {
 public:
  InsideNccl() { ++nccl_depth; }
  ~InsideNccl() { --nccl_depth; }
  InsideNccl(const InsideNccl&) = delete;
  InsideNccl& operator=(const InsideNccl&) = delete;
};

}  // namespace crossover::session

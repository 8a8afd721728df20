// Defines the words that the hooks read before anything else.
#pragma once

#include <atomic>
#include <cstdint>

#include "sidecar/session/hook_flags_word.h"

namespace crossover::session {

// A HookFlag is a reason why the hook of a compute launch does more than call the driver. No bit is set
// while the program calls NCCL through our wrappers and holds no turn.
enum HookFlag : std::uint32_t {
  kHookLearning = 1,  // the launch tells which stream computes
  kHookAcquire = 2,   // the launch begins a turn
  kHookCount = 4,     // the launch counts towards the next yield point
  kHookKernels = 8,   // the launch may be of one of NCCL's own kernels: see hooks/nccl_kernels.h
  kHookSilence = 16,  // no NCCL was seen yet: launches are counted until they show that none comes
};
// The library assumes at first that the program may use NCCL in any way.
inline constinit HookFlagsWord hook_flags{kHookKernels | kHookSilence};

// Says whether the hooks of calls that order streams report them: an arbiter has asked us to watch.
inline constinit std::atomic<bool> watching{false};

// Says whether turns end at waits. The hooks of calls that make a stream or the host wait then report them
// before they call the driver.
inline constinit std::atomic<bool> turns_end_at_waits{false};

// Counts how many calls of NCCL this thread is inside. NCCL makes the calls of the driver there, not the
// user.
inline thread_local constinit int nccl_depth = 0;

// Counts how many groups of NCCL calls this thread is inside. What a call asks for is done at the end of the
// outermost one.
inline thread_local constinit int nccl_groups = 0;

// Says whether this thread has called a collective. Each rank's thread calls the same ones in the same order.
inline thread_local constinit bool calls_collectives = false;

// Marks the calling thread as inside NCCL for the life of the object.
class InsideNccl {
 public:
  InsideNccl() { ++nccl_depth; }
  ~InsideNccl() { --nccl_depth; }
  InsideNccl(const InsideNccl&) = delete;
  InsideNccl& operator=(const InsideNccl&) = delete;
};

}  // namespace crossover::session

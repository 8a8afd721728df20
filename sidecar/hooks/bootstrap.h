// Decides when the library starts its session: at the first communicator of more than one rank, or after many
// launches without one. It does so only in a process that takes part (session::Config::active). Until then,
// and in a forked child, every call passes unchanged. Thread-safe.
#pragma once

#include <cudaTypedefs.h>

#include <atomic>
#include <cstdint>

namespace crossover::hooks {

// Returns whether this process takes part: its configuration is active, and it is no forked child.
bool Active();

inline constexpr int kCurrentGpu = -1;  // stands for the calling thread's current GPU

// Records that the calling thread has made, or uses for the first time, a communicator of `ranks` ranks
// through our wrappers. `gpu` is the communicator's GPU, which may differ from the thread's current one:
// several GPUs of one process may share a thread.
void OnCommunicator(const void* comm, int ranks, int rank, int gpu = kCurrentGpu);

// Returns whether turns are taken on this device.
bool IsOwnDevice(CUdevice device);

// Records that the program may use an NCCL that is linked into it, because it has looked up kernels of NCCL.
// From now on the hooks check launches for such kernels, whatever other NCCL the program calls.
void ExpectLinkedNccl();

// Records that the calling thread launches a kernel of such an NCCL for the first time in `context`, its
// current context.
void OnLinkedNccl(CUcontext context);

// Records that the process has launched so much that a communicator would exist by now.
void OnSilence();

// Counts launches while `hook_flags` has no bits but kHookSilence and kHookKernels. Launches of several
// threads at the same time may count as one.
inline constinit std::atomic<std::uint32_t> silent_launches{0};
inline constexpr std::uint32_t kSilence = 2048;

// Counts a launch, and calls OnSilence() at launch number kSilence.
inline void CountSilentLaunch() {
  const std::uint32_t count = silent_launches.load(std::memory_order_relaxed);
  if (count >= kSilence) return;
  silent_launches.store(count + 1, std::memory_order_relaxed);
  if (count + 1 == kSilence) OnSilence();
}

}  // namespace crossover::hooks

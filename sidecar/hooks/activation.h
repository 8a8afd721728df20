// When the library wakes up: at the first communicator of more than one rank on a GPU, or after many launches
// without one, in a process that takes part (session::Config::active), and never before. Until then, and in a
// forked child, everything passes untouched.
#pragma once

#include <cudaTypedefs.h>

#include <atomic>
#include <cstdint>

namespace crossover::hooks {

// Whether anything is to be watched in this process at all.
bool Active();

// The calling thread made, or uses for the first time, a communicator of `ranks` ranks on its current GPU,
// through our wrappers. `gpu`: the communicator's, where that may be another (several GPUs of one process
// share a thread).
inline constexpr int kCurrentGpu = -1;
void OnCommunicator(const void* comm, int ranks, int rank, int gpu = kCurrentGpu);

// Whether turns are taken on this device.
bool IsOwnDevice(CUdevice device);

// An NCCL that is linked into the program may be used: its kernels were looked up. From now on launches are
// looked at, whatever other NCCL is called.
void ExpectLinkedNccl();

// The calling thread launches kernels of such an NCCL in this context, its current one, for the first time.
void OnLinkedNccl(CUcontext context);

// So much was launched that a communicator would be there by now.
void OnSilence();

// Launches while attention has kAttendSilence alone, or with kAttendKernels. Launches of several threads at
// once may be counted as one.
inline constinit std::atomic<std::uint32_t> silent_launches{0};
inline constexpr std::uint32_t kSilence = 2048;

inline void CountSilentLaunch() {
  const std::uint32_t count = silent_launches.load(std::memory_order_relaxed);
  if (count >= kSilence) return;
  silent_launches.store(count + 1, std::memory_order_relaxed);
  if (count + 1 == kSilence) OnSilence();
}

}  // namespace crossover::hooks

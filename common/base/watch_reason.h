// Lists the reasons why a client is only watched although the daemon asks it to take turns. The library
// writes the reason into its slot of the page (crossover_slot.watch_reason) and into its log.
#pragma once

#include <cstdint>

namespace crossover::base {

enum class WatchReason : std::uint32_t {
  kNone = 0,
  kNonBlocking = 1,
  kSeveralGpus = 2,
  kCommunicators = 3,
  kStreams = 4,
  kCaptured = 5,
  kOneSided = 6,
  kDeviceSided = 7,
  kLaunchBlocking = 8,
  kDriver = 9,
  kTwoNccls = 10,
  kAlike = 11,
  kUnaskable = 12,
  kContextLost = 13,
  kSeveralThreads = 14,
  kContextEnded = 15,
  kOneConnection = 16,
  kUnknownCaptures = 17,
  kNewerDriver = 18,
  kInnerWaits = 19,
  kNoWaits = 20,
  kNoPeriod = 21,
};
inline constexpr std::uint32_t kWatchReasons = 22;

// Returns the reason in words. They are values of the label `reason` of crossover_client_watched_only, so
// words that were released stay. `reason` may have any value, because another process wrote it.
constexpr const char* Text(WatchReason reason) {
  constexpr const char* kTexts[kWatchReasons] = {
      "",
      "a communicator is non-blocking",
      "one process drives several GPUs",
      "more communicators than can be tracked",
      "more streams or events than can be tracked",
      "collectives are captured into graphs",
      "one-sided communication",
      "kernels that communicate",
      "CUDA_LAUNCH_BLOCKING is set",
      "the driver refused to queue an operation",
      "NCCL is linked into the program and loaded as a library too",
      "NCCL is linked into the program, and its kernels are all alike",
      "no collectives are seen, and it computes on streams that only its own threads can ask",
      "its GPU context is lost: an earlier operation of it failed on the GPU",
      "its turns begin on the default stream of one thread and end in another thread",
      "its GPU context has ended: it was destroyed, or its device was reset",
      "CUDA_DEVICE_MAX_CONNECTIONS is 1: the end of a turn could wait for a collective",
      "there is no memory to record which streams are captured",
      "the driver is newer than this library, which would not see all captures, or the end of a context",
      "compute waits for collectives inside its turns, or an iteration has more than 4 turns",
      "no compute is seen that waits for its collectives",
      "no iteration of up to 256 collectives repeats",
  };
  const auto index = static_cast<std::uint32_t>(reason);
  return index < kWatchReasons ? kTexts[index] : "invalid";
}

// Returns what a user can do about the reason, as the end of a sentence, or "" if there is no advice.
constexpr const char* Advice(WatchReason reason) {
  switch (reason) {
    case WatchReason::kNonBlocking:
      return "; PyTorch before 2.7.1 makes such ones with init_process_group(device_id=...), unless "
             "TORCH_NCCL_USE_COMM_NONBLOCKING=0 is set";
    case WatchReason::kInnerWaits:
      return "; CROSSOVER_TURNS_AT_WAITS=1 in the environment of the job lets turns end at such waits";
    case WatchReason::kNoPeriod:
      return "; with Horovod, DistributedOptimizer(groups=N) makes the collectives of all iterations the "
             "same";
    default:
      return "";
  }
}

}  // namespace crossover::base

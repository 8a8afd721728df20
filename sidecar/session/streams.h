// Converts streams to keys that mean the same stream on every thread, and back.
#pragma once

#include <cudaTypedefs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "sidecar/phase/tracker.h"

namespace crossover::session {

// A Flavour says which default stream a null handle means in a call.
enum class Flavour { kLegacy, kPerThread };

inline constexpr phase::StreamKey kLegacyStream = 1;

// Returns the key of the calling thread's default stream. All threads use one handle for their default
// streams, so the key contains the thread's ID. Real handles are pointers and have their low bits clear.
inline phase::StreamKey PerThreadStream() {
  thread_local constinit phase::StreamKey key = 0;
  if (key == 0) key = (static_cast<phase::StreamKey>(::syscall(SYS_gettid)) << 3) | 2;
  return key;
}

// Returns the key of `stream`, which the calling thread has passed to a function of this flavour.
inline phase::StreamKey KeyOf(CUstream stream, Flavour flavour) {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  if (handle == 0) return flavour == Flavour::kLegacy ? kLegacyStream : PerThreadStream();
  if (stream == CU_STREAM_PER_THREAD) return PerThreadStream();
  return handle;
}

// Returns whether `key` is that of a per-thread default stream.
inline bool IsPerThread(phase::StreamKey key) { return (key & 7) == 2; }

// Returns whether `key` is that of the default stream of a thread that has ended. Keeps errno.
inline bool EndedWithItsThread(phase::StreamKey key) {
  if (!IsPerThread(key)) return false;
  const int saved_errno = errno;
  const bool gone = ::syscall(SYS_tgkill, ::getpid(), static_cast<pid_t>(key >> 3), 0) != 0 && errno == ESRCH;
  errno = saved_errno;
  return gone;
}

// Finds the handle for `key` on this thread. Returns false for the per-thread stream of another thread, and
// for no stream.
inline bool HandleOf(phase::StreamKey key, CUstream* stream) {
  if (key == 0) return false;
  if (IsPerThread(key)) {
    *stream = CU_STREAM_PER_THREAD;
    return key == PerThreadStream();
  }
  *stream = reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(key));
  return true;
}

}  // namespace crossover::session

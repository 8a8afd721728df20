// Wraps the operating system's calls that all of simgpu uses: clock, futex, file descriptor.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>

#include "simgpu/model/fluid.h"

namespace simgpu {

constexpr Nanos kMicrosecond = 1000;
constexpr Nanos kMillisecond = 1000 * kMicrosecond;

// Reads CLOCK_MONOTONIC, which is one clock for all processes, containers and GPUs of a machine.
inline Nanos MonotonicNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<Nanos>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Sleeps while *word == seen, at most until `deadline` (kNever: without end). Returns 0 when woken, else
// EAGAIN (another value), EINTR or ETIMEDOUT; the caller looks again in every case. The word may lie in
// memory that processes share.
inline int FutexWait(const std::uint32_t* word, std::uint32_t seen, Nanos deadline) {
  timespec until{};
  until.tv_sec = static_cast<time_t>(deadline / 1'000'000'000);
  until.tv_nsec = static_cast<long>(deadline % 1'000'000'000);
  const long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET, seen, deadline == kNever ? nullptr : &until,
                              nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == 0 ? 0 : errno;
}

// Wakes up to `sleepers` threads that sleep on *word, also those of other processes.
inline void FutexWake(const std::uint32_t* word, int sleepers = INT_MAX) {
  syscall(SYS_futex, word, FUTEX_WAKE, sleepers, nullptr, nullptr, 0);
}

// Sleeps until `time`, which may have passed.
void SleepUntil(Nanos time);

// Makes timed sleeps of the calling thread end on time. Without it the kernel may delay them by 50 us.
void SharpenTimers();

// Makes the calling thread stand in for hardware, which does not wait for a processor. It gets sharp timers
// and runs before every ordinary thread: with real-time priority, or with nice -10 if that is refused. Its
// priority stays as it is if both are refused, or if SIMGPU_REALTIME was 0 when the library was loaded. A
// process that it forks is ordinary again.
void ActAsHardware();

// A ScopedFd owns a file descriptor and closes it.
class ScopedFd {
 public:
  explicit ScopedFd(int fd) : fd_(fd) {}
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  ~ScopedFd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

}  // namespace simgpu

// Keeps a monotonic clock that stands while a program computes, and moves when it waits: a wait of a second
// ends at once. Stands in for the C library's functions, on the thread that stopped the clock alone. Only one
// source of a program may include this file.
#pragma once

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdint>
#include <functional>
#include <utility>

namespace crossover::fuzz {

class StoppedClock {
 public:
  // Stops the clock of the calling thread. `on_wait` does what others do while the program waits.
  explicit StoppedClock(std::function<void()> on_wait) : on_wait_(std::move(on_wait)) { current_ = this; }
  ~StoppedClock() { current_ = nullptr; }
  StoppedClock(const StoppedClock&) = delete;
  StoppedClock& operator=(const StoppedClock&) = delete;

  static StoppedClock* current() { return current_; }
  timespec Now() const { return {static_cast<time_t>(ns_ / kSecond), static_cast<long>(ns_ % kSecond)}; }
  void Wait(const timespec& duration) {
    ns_ += duration.tv_sec * kSecond + duration.tv_nsec;
    on_wait_();
  }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  inline static thread_local StoppedClock* current_ = nullptr;

  std::function<void()> on_wait_;
  std::int64_t ns_ = kSecond;
};

}  // namespace crossover::fuzz

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static const auto real = reinterpret_cast<int (*)(clockid_t, timespec*)>(dlsym(RTLD_NEXT, "clock_gettime"));
  const auto* stopped = crossover::fuzz::StoppedClock::current();
  if (stopped == nullptr || clock != CLOCK_MONOTONIC) return real(clock, now);
  *now = stopped->Now();
  return 0;
}

int nanosleep(const timespec* duration, timespec* left) {
  static const auto real =
      reinterpret_cast<int (*)(const timespec*, timespec*)>(dlsym(RTLD_NEXT, "nanosleep"));
  auto* stopped = crossover::fuzz::StoppedClock::current();
  if (stopped == nullptr) return real(duration, left);
  stopped->Wait(*duration);
  return 0;
}

// Reads six arguments, as the one of glibc does, also where the caller passes fewer. What lies behind those
// is then read from the caller's stack, and AddressSanitizer must not take it for a fault.
__attribute__((no_sanitize("address"))) long syscall(long number, ...) noexcept {
  static const auto real = reinterpret_cast<long (*)(long, ...)>(dlsym(RTLD_NEXT, "syscall"));
  std::array<long, 6> argument{};
  va_list arguments;
  va_start(arguments, number);
  for (long& each : argument) each = va_arg(arguments, long);
  va_end(arguments);
  auto* stopped = crossover::fuzz::StoppedClock::current();
  if (stopped != nullptr && number == SYS_futex && argument[1] == FUTEX_WAIT) {
    stopped->Wait(*reinterpret_cast<const timespec*>(argument[3]));
    return -1;
  }
  return real(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

}  // extern "C"

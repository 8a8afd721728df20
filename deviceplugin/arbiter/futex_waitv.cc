#include "deviceplugin/arbiter/futex_waitv.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/base/futex.h"
#include "common/base/timespec.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

namespace crossover::arbiter {
namespace {

// Mirrors <linux/futex.h> of 5.16, which older build machines do not have.
struct WaitEntry {
  std::uint64_t value;
  std::uint64_t address;
  std::uint32_t flags;
  std::uint32_t reserved;
};
constexpr std::uint32_t kSize32 = 2;  // shared words, because FUTEX2_PRIVATE is absent
constexpr std::size_t kMostWords = 128;

}  // namespace

bool HasFutexWaitv() {
  static const bool can = syscall(SYS_futex_waitv, nullptr, 0, 0, nullptr, CLOCK_MONOTONIC) < 0 &&
                          errno != ENOSYS && errno != EPERM;
  return can;
}

void FutexWaitv(std::span<const AwaitedWord> words, turn::Time deadline) {
  if (!HasFutexWaitv()) {
    const AwaitedWord& last = words.back();
    base::FutexWait(last.word, last.expected,
                    std::clamp(deadline - base::MonotonicNs(), turn::Time{0}, kBlindWait));
    return;
  }
  std::array<WaitEntry, kMostWords> entries;
  const std::size_t count = std::min(words.size(), kMostWords);
  for (std::size_t i = 0; i < count; ++i) {
    entries[i] = {words[i].expected, reinterpret_cast<std::uintptr_t>(words[i].word), kSize32, 0};
  }
  const timespec until = base::TimespecOf(deadline);
  syscall(SYS_futex_waitv, entries.data(), static_cast<unsigned>(count), 0,
          deadline == turn::kNever ? nullptr : &until, CLOCK_MONOTONIC);
}

}  // namespace crossover::arbiter

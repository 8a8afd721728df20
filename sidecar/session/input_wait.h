// Measures for how long of an iteration the GPU has nothing to do because the job's host launches nothing: it
// waits for input, or computes something itself.
//
//     turn given back, as nothing runs in it  ---->  next launch      a data loader that cannot keep up
//     host has waited for the collective      ---->  next launch      the same, with nothing launched before
//
// Both times are the host's. The first one begins when the arbiter thread has seen that nothing runs, which
// is up to 0.5 ms late if turns usually stall (IdleWatch). If they do not yet, or stall less often than in
// each fifth turn, it is 10 to 15 ms late, and the turn is only given back if another client waits. What is
// missing so counts as compute, and so does a stream that waits for input on the GPU: no call tells it from a
// kernel.
//
// Pure: the caller passes the time. Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace crossover::session {

// An InputWait keeps what the last iterations with turns have waited.
class InputWait {
 public:
  static constexpr std::size_t kKept = 16;  // iterations
  static constexpr std::size_t kFew = 4;    // fewer than these say nothing

  constexpr InputWait() = default;

  // Notes that the host has nothing on the GPU from now on. Does nothing if a wait has begun.
  void Begin(std::int64_t now_ns) {
    if (since_ns_ == 0) since_ns_ = now_ns;
  }
  // Notes a launch. Does nothing if no wait has begun.
  void End(std::int64_t now_ns) {
    if (since_ns_ != 0) sum_ns_ += std::max<std::int64_t>(0, now_ns - since_ns_);
    since_ns_ = 0;
  }
  // Returns whether a wait has begun and not ended.
  bool waits() const { return since_ns_ != 0; }

  // Notes that a turn begins in iteration number `iteration`. Iterations without turns are not known: what
  // waited before one of them is dropped.
  void SeeIteration(std::uint32_t iteration) {
    if (known_ && iteration == iteration_) return;
    if (known_ && iteration == iteration_ + 1) kept_ns_[seen_++ % kKept] = sum_ns_;
    iteration_ = iteration;
    known_ = true;
    sum_ns_ = 0;
  }

  // Returns the mean wait of an iteration in microseconds, or nothing while fewer than kFew are known. The
  // longest of the kept iterations does not count: one checkpoint or pause is no input.
  std::optional<std::uint32_t> usual_us() const {
    const std::size_t count = std::min<std::size_t>(seen_, kKept);
    if (count < kFew) return std::nullopt;
    std::int64_t sum = 0, longest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += kept_ns_[i];
      longest = std::max(longest, kept_ns_[i]);
    }
    constexpr std::int64_t kNsPerUs = 1000;
    return static_cast<std::uint32_t>((sum - longest) / (static_cast<std::int64_t>(count) - 1) / kNsPerUs);
  }

  // Forgets everything.
  void Forget() { *this = {}; }

 private:
  std::int64_t since_ns_ = 0;  // when the present wait began; 0: there is none
  std::int64_t sum_ns_ = 0;    // of the present iteration
  std::uint32_t iteration_ = 0;
  bool known_ = false;  // `iteration_` holds a number
  std::uint32_t seen_ = 0;
  std::array<std::int64_t, kKept> kept_ns_{};
};

}  // namespace crossover::session

// Keeps what the samples of one kind of calls have found, and says which call is the next sample.
//
// A sample is one launch of the kernel that measures the error of the codecs (shrink/kernels/error_threads.h)
// on the send buffer of a call. The kernel writes into memory of the host, and its marks say when it has
// ended: so nothing waits for a stream. A kind of calls has one sample at a time. A call that comes while one
// is not done is passed over, and the next one takes its place.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shrink/codec/draw.h"
#include "shrink/kernels/error_threads.h"

namespace crossover::shrink::library {

// The first kFirstSamples calls of a kind are samples, and then one in kCallsPerSample.
inline constexpr std::uint64_t kFirstSamples = 4;
inline constexpr std::uint64_t kCallsPerSample = 100;
// So many kinds of calls of a process have samples. Each needs 2.5 KiB of memory of the host.
inline constexpr std::size_t kMostMeasured = 64;

// ErrorParts are what the kernel of one sample writes, a part by each block.
using ErrorParts = std::array<ErrorPart, kErrorBlocks>;

// Returns the random numbers of 8 bits in the sample with this mark.
constexpr Draw DrawOfSample(std::uint64_t mark) { return {0x73616d706c65, mark, 0}; }

// Errors are what all samples of a kind have found together.
struct Errors {
  std::uint64_t samples = 0;     // that are in the sums
  std::uint64_t unfinished = 0;  // launched, and not known to be done
  ErrorSums sums{};
};

// Returns a sum of squared errors as a part of the squares of the values. Where all values are 0 so are their
// codes, and the error is none.
constexpr double RelativeError(double squared_error, double squares) {
  return squares > 0 ? squared_error / squares : 0;
}

// An ErrorAccount belongs to one kind of calls. Thread-safe: no function waits for another thread.
class ErrorAccount {
 public:
  constexpr ErrorAccount() = default;

  // Asks whether the call number `call` of this kind, from 1, is a sample. If so, it returns the mark for the
  // kernel, from 1, and the account is the caller's until Launched() or Dropped(). Else it returns 0. `take`
  // returns memory for the parts, or null, in which case this kind never has a sample.
  template <class Take>
  std::uint64_t Begin(std::uint64_t call, const Take& take) {
    if (call < next_.load(std::memory_order_relaxed)) return 0;
    if (claimed_.exchange(true, std::memory_order_acquire)) return 0;
    Collect();
    if (parts_ == nullptr) parts_ = take();
    if (parts_ != nullptr && !is_running_ && call >= next_.load(std::memory_order_relaxed)) {
      call_ = call;
      return mark_ + 1;
    }
    claimed_.store(false, std::memory_order_release);
    return 0;
  }

  // Returns where the kernel of the sample writes. REQUIRES: the account is the caller's.
  ErrorParts* parts() const { return parts_; }

  // Ends a sample whose kernel is on its stream. REQUIRES: the account is the caller's.
  void Launched() {
    ++mark_;
    is_running_ = true;
    next_.store(call_ + (mark_ < kFirstSamples ? 1 : kCallsPerSample), std::memory_order_relaxed);
    claimed_.store(false, std::memory_order_release);
  }

  // Gives a sample up that was not launched. REQUIRES: the account is the caller's.
  void Dropped() { claimed_.store(false, std::memory_order_release); }

  // Returns what is known by now. While a thread has the account, that is nothing.
  Errors Read() {
    if (claimed_.exchange(true, std::memory_order_acquire)) return {};
    Collect();
    const Errors errors{mark_ - (is_running_ ? 1 : 0), is_running_ ? 1U : 0U, sums_};
    claimed_.store(false, std::memory_order_release);
    return errors;
  }

 private:
  // Adds the sample that runs to the sums, if all of its blocks are done.
  void Collect() {
    if (!is_running_) return;
    for (const ErrorPart& part : *parts_) {
      if (__atomic_load_n(&part.mark, __ATOMIC_ACQUIRE) != mark_) return;
    }
    for (const ErrorPart& part : *parts_) Add(part.sums, sums_);
    is_running_ = false;
  }

  std::atomic<bool> claimed_{false};  // a thread uses what follows
  std::atomic<std::uint64_t> next_{1};
  ErrorParts* parts_ = nullptr;
  std::uint64_t call_ = 0;
  std::uint64_t mark_ = 0;  // of the last sample, which is the number of samples
  bool is_running_ = false;
  ErrorSums sums_{};
};

}  // namespace crossover::shrink::library

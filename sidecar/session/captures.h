// Keeps the set of streams that are being captured. The caller also reports captures that end with their
// stream or with its context. An end without a begin changes nothing.
//
// The set has no limit: it grows with the number of captures. If the kernel has no memory for a record,
// lost() is true from then on, and the set no longer tells what is captured.
//
// Not thread-safe: the owner's lock guards it. Any thread may call any() and lost().
#pragma once

#include <atomic>
#include <cstdint>

#include "sidecar/memory/table.h"
#include "sidecar/phase/tracker.h"

namespace crossover::session {

// A Capture is one stream that is being captured, and the context with which the capture ends.
struct Capture {
  phase::StreamKey key = 0;   // key of the stream; 0: none
  std::uint64_t context = 0;  // handle of the context in which it began; 0: unknown
  std::int32_t device = -1;   // device of that context; -1: unknown
  bool primary = false;       // the context is the primary one of its device
};

// Captures is the set of them, by the stream in which each began.
class Captures {
 public:
  constexpr Captures() = default;

  // Adds a capture. Returns false, and adds nothing, if the stream is being captured already.
  bool Begin(const Capture& capture) {
    if (known_.Find(capture.key) != nullptr) return false;
    if (known_.Put(capture)) {
      Count(1);
    } else {
      lost_.store(true, std::memory_order_relaxed);
    }
    return true;
  }

  // Ends the capture of `stream`. Returns false if the set has none.
  bool End(phase::StreamKey stream) {
    if (!Leave(stream)) return false;
    Count(-1);
    return true;
  }

  // Removes the capture of `stream`, which any() still counts until the caller calls Left(). Returns false if
  // the set has none.
  bool Leave(phase::StreamKey stream) {
    Capture left;
    return known_.Remove(stream, &left);
  }
  void Left() { Count(-1); }

  // Ends all captures in the set for which `which` is true. Returns whether there was one.
  template <typename Which>
  bool EndAll(Which which) {
    int ended = 0;
    known_.RemoveAll(which, [&ended](const Capture&) { ++ended; });
    Count(-ended);
    return ended > 0;
  }

  // Returns whether any stream is being captured. Once lost() is true, it returns true forever.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0 || lost(); }
  // Returns whether there was ever no memory for the record of a capture.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  void Count(int more) {
    count_.store(count_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  memory::Table<Capture> known_;
  std::atomic<int> count_{0};  // captures in the set, and those between Leave() and Left()
  std::atomic<bool> lost_{false};
};

}  // namespace crossover::session

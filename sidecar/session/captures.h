// Knows which streams are being captured. A capture that ends with its stream, or with the stream's
// context, ends like any other. An end whose begin was not seen changes nothing.
//
// There is no limit to how many are known: their records grow with what is captured at once. Only where the
// kernel has no memory for a record is it not known any more what is captured.
//
// The owner's lock guards it, except for any() and lost(), which any thread may call.
#pragma once

#include <atomic>
#include <cstdint>

#include "sidecar/memory/table.h"
#include "sidecar/phase/tracker.h"

namespace crossover::session {

// A Capture is one stream that is being captured, with what it ends with.
struct Capture {
  phase::StreamKey key = 0;   // of the stream; 0: none
  std::uint64_t context = 0;  // handle of the context in which it began; 0: unknown
  std::int32_t device = -1;   // device of that context; -1: unknown
  bool primary = false;       // that context is the primary one of its device
};

// Captures is the set of them, by the stream in which each began.
class Captures {
 public:
  constexpr Captures() = default;

  // Adds a capture. Returns false, and adds nothing, where the stream is being captured already.
  bool Begin(const Capture& capture) {
    if (known_.Find(capture.key) != nullptr) return false;
    if (known_.Put(capture)) {
      Count(1);
    } else {
      lost_.store(true, std::memory_order_relaxed);
    }
    return true;
  }

  // Ends the capture of `stream`. Returns false where none is known to go on there.
  bool End(phase::StreamKey stream) {
    if (!Leave(stream)) return false;
    Count(-1);
    return true;
  }

  // Forgets the capture of `stream`, which counts on until Left() is called. Returns false where none is
  // known to go on there.
  bool Leave(phase::StreamKey stream) {
    Capture left;
    return known_.Remove(stream, &left);
  }
  void Left() { Count(-1); }

  // Ends all captures that are known by their stream and for which `which` is true. Returns whether there
  // was one.
  template <typename Which>
  bool EndAll(Which which) {
    int ended = 0;
    known_.RemoveAll(which, [&ended](const Capture&) { ++ended; });
    Count(-ended);
    return ended > 0;
  }

  // Returns whether any stream is being captured. Returns true for good once that is not known any more.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0 || lost(); }
  // Returns whether there was no memory for the record of a capture.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  void Count(int more) {
    count_.store(count_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  memory::Table<Capture> known_;
  std::atomic<int> count_{0};  // of these, and of those that are left
  std::atomic<bool> lost_{false};
};

}  // namespace crossover::session

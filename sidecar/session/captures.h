// Knows which streams are being captured. A capture that ends with its stream, or with the stream's
// context, ends like any other. An end whose begin was not seen changes nothing.
//
// The owner's lock guards it, except for any() and lost(), which any thread may call. Does not allocate.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sidecar/phase/tracker.h"

namespace crossover::session {

// A Capture is one stream that is being captured, with what it ends with.
struct Capture {
  phase::StreamKey stream = 0;  // 0: none
  std::uint64_t context = 0;    // handle of the context in which it began; 0: unknown
  std::int32_t device = -1;     // device of that context; -1: unknown
  bool primary = false;         // that context is the primary one of its device
};

// Captures is the set of them, by the stream in which each began.
class Captures {
 public:
  // So many are known by their stream. Where there are more, what is captured is not known any more.
  static constexpr std::size_t kMost = 64;

  constexpr Captures() = default;

  // Adds a capture. Returns false, and adds nothing, where the stream is being captured already.
  bool Begin(const Capture& capture) {
    Capture* free = nullptr;
    for (Capture& entry : known_) {
      if (entry.stream == capture.stream) return false;
      if (entry.stream == 0 && free == nullptr) free = &entry;
    }
    if (free == nullptr) {
      lost_.store(true, std::memory_order_relaxed);
      return true;
    }
    *free = capture;
    Count(1);
    return true;
  }

  // Ends the capture of `stream`. Returns false where none is known to go on there.
  bool End(phase::StreamKey stream) {
    return EndAll([stream](const Capture& capture) { return capture.stream == stream; });
  }

  // Forgets the capture of `stream`, which counts on until Left() is called. Returns false where none is
  // known to go on there.
  bool Leave(phase::StreamKey stream) {
    for (Capture& entry : known_) {
      if (stream == 0 || entry.stream != stream) continue;
      entry = Capture();
      return true;
    }
    return false;
  }
  void Left() { Count(-1); }

  // Ends all captures that are known by their stream and for which `which` is true. Returns whether there
  // was one.
  template <typename Which>
  bool EndAll(Which which) {
    int ended = 0;
    for (Capture& entry : known_) {
      if (entry.stream == 0 || !which(entry)) continue;
      entry = Capture();
      ++ended;
    }
    Count(-ended);
    return ended > 0;
  }

  // Returns whether any stream is being captured. Returns true for good once that is not known any more.
  bool any() const { return count_.load(std::memory_order_relaxed) > 0 || lost(); }
  // Returns whether there were more captures at once than can be known.
  bool lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  void Count(int more) {
    count_.store(count_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }

  std::array<Capture, kMost> known_{};
  std::atomic<int> count_{0};  // of these, and of those that are left
  std::atomic<bool> lost_{false};
};

}  // namespace crossover::session

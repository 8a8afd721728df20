// How unequal jobs divide a GPU among themselves.
//
// A job that needs the GPU for c of each iteration and stays away for m makes u = c / (c + m) use of it when
// alone. The fluid max-min share lets all run at the same part of their own speed: theta = min(1, 1 / sum u).
// Turns that go round whole reach it where they are of like length; a short turn behind a long one does not.
// There, turns are broken at their yield points, and whoever is furthest behind its share goes first.
//
// What a client has got is counted in *progress*: nanoseconds of its own time alone, so that equal progress
// is an equal slowdown.
//
// Pure. Not thread-safe. Trivially copyable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "turn/rhythm.h"
#include "turn/words.h"

namespace crossover::turn {

// What one client needs of its GPU in an iteration, nanoseconds.
struct Demand {
  Time busy = kNever;
  Time away = kNever;
  bool known() const { return busy != kNever && away != kNever && busy > 0; }
  Time alone() const { return busy + away; }  // its iteration with nobody beside it
  double use() const { return static_cast<double>(busy) / static_cast<double>(alone()); }
};

// The part of its own speed at which each of `demands` can run, all alike. 1 for none.
double FairRate(const Demand* demands, std::size_t count);
// The part of its own speed at which the slowest runs when whole turns go round.
double WholeTurnsRate(const Demand* demands, std::size_t count);

class Shares {
 public:
  // A newcomer is as far as whoever is furthest.
  void Join(SlotIndex slot);

  // `slot` ran for `served`.
  void Credit(SlotIndex slot, Time served, const Demand& demand);

  // Nanoseconds of its time alone; comparable among clients of one GPU.
  Time progress(SlotIndex slot) const { return progress_[slot]; }
  static Time ProgressOf(Time served, const Demand& demand);

 private:
  std::array<Time, kMaxSlots> progress_{};
};

}  // namespace crossover::turn

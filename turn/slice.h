// Says where a client's slice ends: the iterations for which it keeps the GPU in time-slices, where turns
// last until their collectives have ended.
//
// All ranks of a job must hand over at the same iteration, and they exchange no message. So the rule knows
// nothing but the number of the job's iteration, which is the same on all ranks. A slice ends where that
// number passes a multiple of the slice's length. It knows no clock: a host decides this when it queues the
// release, long before the GPU comes to it.
//
// Pure; not thread-safe. Allocates nothing.
#pragma once

#include <cstdint>

namespace crossover::turn {

// This is CROSSOVER_MOST_SLICE_BITS, as the page adapter asserts.
inline constexpr std::uint32_t kMostSliceBits = 6;

// After a pause, so many iterations at least have turns of their own before the first slice begins. Ranks of
// a job begin to take turns some iterations apart. A rank that has no turn yet waits in its collective for
// one that stands at its gate, and in a slice of the other job it would wait there for long.
inline constexpr std::uint32_t kBeforeSlices = 4;

// A Slice is what one client remembers of the turns of its present slice.
class Slice {
 public:
  constexpr Slice() = default;

  // Says that a turn ends in the iteration of this number. Returns whether it is the last one of its slice.
  // The first turn that ends in an iteration behind a multiple of the length is the last, however many turns
  // an iteration has. `bits` is the power of two of the length. Any client may have written it: 0, and more
  // than kMostSliceBits, end a slice with each turn. The first slice begins at a multiple of the length.
  // Ranks which began their turns an iteration apart choose different ones in one of so many starts.
  constexpr bool Ends(std::uint32_t iteration, std::uint32_t bits) {
    const bool sliced = bits != 0 && bits <= kMostSliceBits;
    if (!known_) {
      const std::uint32_t apart = sliced ? 1u << bits : 1u;
      from_ = (iteration + kBeforeSlices + apart - 1) / apart * apart;
      last_ = iteration;
      known_ = true;
      return true;
    }
    const std::uint32_t before = last_;
    last_ = iteration;
    if (!sliced || static_cast<std::int32_t>(iteration - from_) < 0) return true;
    return iteration >> bits != before >> bits;
  }
  // Says that the next turn does not follow the last one without a pause.
  constexpr void Forget() { known_ = false; }

 private:
  bool known_ = false;      // last_ and from_
  std::uint32_t last_ = 0;  // iteration of the last turn that ended
  std::uint32_t from_ = 0;  // iteration at which slices begin
};

}  // namespace crossover::turn

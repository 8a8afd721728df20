// Says where a client's slice ends: the iterations for which it keeps the GPU in time-slices, in which turns
// last until their collectives have ended.
//
// All ranks of a job must hand over at the same iteration, and they exchange no message. So the rule uses
// only the number of the job's iteration, which is the same on all ranks. A slice ends where that number
// passes a multiple of the slice's length. The rule reads no clock: a host decides this when it queues the
// release, long before the GPU comes to it.
//
//     iteration in which a turn ends        8    9   10   11   12   13   14   15   16
//     gate that opens, with slices of 4   next  own  own  own next  own  own  own next
//
// ("own" is the client's own gate, "next" that of its successor.)
//
// Pure; not thread-safe. Allocates nothing.
#pragma once

#include <cstdint>

namespace crossover::turn {

// The value is CROSSOVER_MOST_SLICE_BITS, as the page adapter asserts.
inline constexpr std::uint32_t kMostSliceBits = 6;

// After a pause, at least this many iterations pass with a hand-over after each turn before the first slice
// begins. Ranks of a job begin to take turns some iterations apart. A rank that takes no turns yet then waits
// in its collective for a rank that waits at its gate, and a whole slice of the other job would make that
// wait long.
inline constexpr std::uint32_t kBeforeSlices = 4;

// A Slice is what one client remembers of the turns of its present slice.
class Slice {
 public:
  constexpr Slice() = default;

  // Notes that a turn ends in iteration number `iteration`. Returns whether it is the last turn of its slice:
  // the first turn that ends at or past a multiple of the length is, however many turns an iteration has. The
  // length is 2^bits. `bits` may come from a hostile client: with 0, or more than kMostSliceBits, each turn
  // is the last of its slice.
  //
  // The first slice begins at a multiple of the length. Two ranks that begin their turns one iteration apart
  // choose different multiples in one of 2^bits starts.
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
  // Notes a pause: the next turn begins anew, and the slices after it as well.
  constexpr void Forget() { known_ = false; }

 private:
  bool known_ = false;      // last_ and from_ hold values
  std::uint32_t last_ = 0;  // iteration of the last turn that ended
  std::uint32_t from_ = 0;  // iteration at which slices begin
};

}  // namespace crossover::turn

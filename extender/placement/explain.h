// Why a gang waits, in words its user can act on. A job of another namespace is "another job". Pure.
#pragma once

#include <cstddef>
#include <string>

#include "extender/placement/joins.h"

namespace crossover::placement {

enum class Reason : std::uint8_t {
  kMalformed,  // it makes no sense as it is
  kTooMuch,    // more GPUs than there are
  kMemory,     // more memory than any GPU has
  kNodes,      // no nodes ever fit its pods
  kKept,       // there would be GPUs, but they are kept for a job that waits for longer
  kScattered,  // there are GPUs, but not where its pods fit
  kFull,       // GPUs are taken
};
inline constexpr int kReasons = 7;

// Of `text`, in bytes: an event takes no more than a thousand, and a scheduler is told it once for each node.
inline constexpr std::size_t kLongestReason = 900;

struct Refusal {
  std::string gang;
  Reason reason = Reason::kFull;
  std::string text;
};

// What is wrong with a gang, or "".
std::string Malformed(const Gang& gang);

// `gang` is not placed by what is in `occupancy`, and cannot be.
Refusal Explain(const Occupancy& occupancy, const Gang& gang, const Terms& terms);

// Why `newcomer` may not be with those of a set, in words for the newcomer's user: a clause after "they ".
std::string Words(const Broken& broken, const Group& group, const Gang& newcomer, const Settings& settings);

}  // namespace crossover::placement

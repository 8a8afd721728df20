// Explains why a gang waits, in words that its user can act on. A job of another namespace appears as
// "another job", without its name. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "extender/placement/join_rules.h"

namespace crossover::placement {

enum class Reason : std::uint8_t {
  kMalformed,  // the gang is inconsistent (see Malformed())
  kTooMuch,    // the gang needs more GPUs than the cluster has
  kMemory,     // the gang needs more memory than any GPU has
  kNodes,      // its pods would not fit on the nodes even if these were empty
  kApart,      // its own constraints between its pods permit no places even if the nodes were empty
  kKept,       // enough GPUs are free, counting those that are kept for a job that waits for longer
  kScattered,  // enough GPUs are free, but not where its pods fit
  kFull,       // too few GPUs are free
  kMakesRoom,  // gangs of lower rank leave for it
};
inline constexpr int kReasons = 9;

// Refusal::text has at most this many bytes. An event takes at most a thousand, and a scheduler gets the text
// once for each node.
inline constexpr std::size_t kLongestReason = 900;

// A Refusal says why one gang got no GPUs.
struct Refusal {
  std::string gang;  // its id
  Reason reason = Reason::kFull;
  std::string text;
};

// Returns what is wrong with a gang, in words for its user, or "" if nothing is.
std::string Malformed(const Gang& gang);

// Returns why `gang` cannot be placed. REQUIRES: it is well formed, `occupancy` does not hold it, and an
// attempt to place it on top of `occupancy` failed.
Refusal Explain(const Occupancy& occupancy, const Gang& gang, const Context& context);

// Returns the refusal of a gang for which this many gangs of lower rank leave.
Refusal ExplainRoom(const Gang& gang, std::size_t victims);

// Returns why `newcomer` may not join `group`, in words for the newcomer's user. The text is a clause that
// follows the name of the other job and a colon; "it" in it is that job.
std::string Words(const Violation& violation, const Group& group, const Gang& newcomer,
                  const Settings& settings);

}  // namespace crossover::placement

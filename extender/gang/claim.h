// Defines a claim: a gang is promised GPUs that gangs of lower rank still have. Plain values, and pure.
//
// The claim is a part of the gang's plan, so the gang counts as one that has these GPUs (snapshot.h). The
// plan does not open before the claim has ended with kRoomMade.
//
// First the reservations of the claim are written. Once the API server has accepted all of them, the victims
// are evicted, one after the other; each leaves with all of its pods (departure.h). The claim ends when no
// victim has a GPU; ClaimEnd has the other ways.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace crossover::extender {

// A ClaimEnd says how a claim ended. After each end except the first, no other victim is evicted.
enum class ClaimEnd : std::uint8_t {
  kRoomMade,    // no victim has a GPU any more
  kForbidden,   // a disruption budget forbids the eviction of a victim
  kSeatsLost,   // a node or a GPU that was promised cannot be had any more
  kIncomplete,  // a pod of the gang is gone
  kChanged      // a victim may not be made to leave any more
};
inline constexpr std::size_t kClaimEnds = 5;
// Returns the word for `end` in the metrics.
const char* NameOf(ClaimEnd end);

struct Claim {
  std::vector<std::string> victims;  // ids of gangs, in the order in which they leave
  std::size_t begun = 0;             // number of victims, the first ones, whose departure has begun
  bool forbidden = false;            // a disruption budget forbids the eviction of the last of these
  bool recovered = false;            // an earlier leader made the claim, and may have begun to evict a victim
  double left_s = 0;                 // when all victims had left; 0: not yet
};

// A Departure is what a gang knows of its own leaving. It goes to its end whatever becomes of the claim: else
// half of the gang would stay.
struct Departure {
  enum class State : std::uint8_t {
    kEvicting,    // evictions are being written
    kTerminating  // the API server has accepted all of them, and some pods still have their GPUs
  };
  std::string claimant;  // id of the gang that holds the claim
  std::string words;     // for its user: the gang for which it leaves
  State state = State::kEvicting;
  bool told = false;  // an event on each pod has said so
};

}  // namespace crossover::extender

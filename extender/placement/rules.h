// Holds the hard rules about which gangs may share one set of GPUs.
//
// Each rule is a predicate. FirstViolation() first checks the rules between the newcomer and each single
// gang, then the rules about the whole set. In both parts the cheap and permanent rules come first. Their
// common input is the gangs on a set, a newcomer, and what is known of the set. No rule checks that all of
// them have the same set of GPUs: the engine gives sets out that way (engine.h).
//
// Pure.
#pragma once

#include <optional>
#include <span>

#include "extender/placement/expect.h"

namespace crossover::placement {

// Each comment says what must hold.
enum class Rule : std::uint8_t {
  kTwoRanks,       // no two pods of one gang, and no two stages of one job, are on one GPU
  kSameCount,      // all gangs have the same number of GPUs
  kSlots,          // there is a slot for each gang
  kExclusive,      // a gang that wants whole GPUs shares them with no other
  kConsent,        // the newcomer and each other gang consent to each other
  kUser,           // all run as one user ID, if MPS serves one at a time
  kLearning,       // each gang has a limit of GPU memory
  kMemoryUnknown,  // the memory of its GPUs is known
  kMemory,         // all memory limits and the reserves for contexts fit together
  kHistory,        // no pair lost by sharing when it met before
  kSlowdown,       // all caps on slowdowns can be kept
  kGain,           // the newcomer raises the gain by enough
  // The next five apply to a set whose GPUs are known (join_rules.h).
  kClosed,  // all GPUs of the set are there, and none is kept
  kShape,   // each pod's GPUs are on one node
  kNodes,   // its nodes have the other resources that the pods need
  kApart,   // the newcomer's own constraints permit its pods there
  kWithin,  // the group lies within one domain if the newcomer asks for one
};
inline constexpr int kRules = 17;

// A GpuSetSpec holds what the rules need to know of a set of GPUs. Before the GPUs are chosen it holds the
// best values that the cluster offers (BestGpuSet() in pairing.h).
struct GpuSetSpec {
  int slots = 0;          // on each GPU
  Bytes memory = 0;       // of each GPU; 0: not known
  bool one_user = false;  // only processes of one user ID can share (MPS)
  bool spans = false;     // its GPUs are on several nodes
};

// A Meeting is the input of the rules. It refers to objects that must outlive it.
struct Meeting {
  std::span<const Gang* const> there;  // gangs on the set
  const Gang& newcomer;
  const GpuSetSpec& site;
  const History& history;
  const Settings& settings;
};

// A Violation names the rule that a newcomer would break.
struct Violation {
  Rule rule;
  const Gang* peer = nullptr;  // the gang that the rule is broken with; null: no particular one
  double gain = 0;             // for kGain: expected gain with the newcomer over that without it
};

// Each of these functions returns true if its rule is broken.
bool BreaksTwoRanks(const Gang& there, const Gang& newcomer);
bool BreaksSameCount(const Gang& there, const Gang& newcomer);
bool BreaksSlots(const Meeting& meeting);
bool BreaksExclusive(const Gang& there, const Gang& newcomer);
bool BreaksUser(const Gang& there, const Gang& newcomer, const GpuSetSpec& site);
bool BreaksMemoryUnknown(const GpuSetSpec& site);
bool BreaksMemory(const Meeting& meeting);
bool BreaksHistory(const Gang& there, const Gang& newcomer, const History& history);
// `before` is the gain of the gangs on the set without the newcomer, which is 1 for one gang. Each newcomer
// must multiply that gain by at least `min_gain`: a fourth job that adds little would take its share from the
// other three.
bool BreaksGain(const Prediction& together, double before, const Settings& settings);

// Returns the first rule that the gangs would break together, or nothing. If there is none, `prediction`,
// unless null, gets what they are expected to reach.
std::optional<Violation> FirstViolation(const Meeting& meeting, Prediction* prediction = nullptr);

}  // namespace crossover::placement

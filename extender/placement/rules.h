// The hard rules about who may share one set of GPUs.
//
// Each rule is a predicate of its own; FirstBroken() asks them, cheap and final ones first. What they have in
// common: the jobs on a set, a newcomer, and what is known of the set. That the set is the same for all of
// them is how sets are given out (engine.h), not a question here.
//
// Pure.
#pragma once

#include <optional>
#include <span>

#include "extender/placement/expect.h"

namespace crossover::placement {

enum class Rule : std::uint8_t {
  kTwoRanks,   // a gang is not on the same GPU twice, nor are the stages of one job
  kSameCount,  // identical sets need equal numbers of GPUs
  kSlots,      // there is a slot for everybody
  kExclusive,  // nobody is beside a gang that wants whole GPUs
  kConsent,    // all consent to each other
  kUser,       // one user ID, where MPS serves one at a time
  kLearning,   // nobody is beside a gang whose memory has no limit yet
  kMemory,     // all caps fit, with what contexts take
  kHistory,    // they did not lose by it before
  kSlowdown,   // all caps on slowdowns can be kept
  kGain,       // it is worth it
  // Of a set whose GPUs are known (joins.h):
  kClosed,  // all of it is there, and it is kept for nobody
  kShape,   // each pod's GPUs are on one node
  kNodes,   // its nodes have what else the pods need
};
inline constexpr int kRules = 14;

// What is known of a set before its GPUs are: the best there is.
struct Site {
  int slots = 0;
  Bytes memory = 0;
  bool one_user = false;
  bool spans = false;
};

struct Meeting {
  std::span<const Gang* const> there;
  const Gang& newcomer;
  const Site& site;
  const History& history;
  const Settings& settings;
};

struct Broken {
  Rule rule;
  const Gang* peer = nullptr;  // with whom; null where it is nobody's in particular
  double gain = 0;  // kGain: what they may expect, over what those that are there reach without the newcomer
};

bool BreaksTwoRanks(const Gang& there, const Gang& newcomer);
bool BreaksSameCount(const Gang& there, const Gang& newcomer);
bool BreaksSlots(const Meeting& meeting);
bool BreaksExclusive(const Gang& there, const Gang& newcomer);
bool BreaksUser(const Gang& there, const Gang& newcomer, const Site& site);
bool BreaksMemory(const Meeting& meeting);
bool BreaksHistory(const Gang& there, const Gang& newcomer, const History& history);
// `before`: what those that are there reach without the newcomer; 1 where one job is there. Each newcomer has
// to raise that by min_gain: a fourth job that adds little takes from the other three what it gets itself.
bool BreaksGain(const Prediction& together, double before, const Settings& settings);

// The first rule that they would break together, or none. `prediction`, unless null, gets what they may
// expect, where nothing is broken.
std::optional<Broken> FirstBroken(const Meeting& meeting, Prediction* prediction = nullptr);

}  // namespace crossover::placement

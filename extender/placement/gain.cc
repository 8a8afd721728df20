#include "extender/placement/gain.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>

#include "common/gains/turns.h"

namespace crossover::placement {
namespace {

using gains::Use;

Use UseOf(const Gang& gang, bool spans) {
  Use use;
  if (gang.profile.known()) {
    const Profile& profile = gang.profile;
    use.gpu = (profile.compute_s + profile.spinning * profile.exposed_s) / profile.alone_s();
    if (spans) use.link = std::min(1.0, profile.link_s / profile.alone_s());
    use.host = std::min(1.0, profile.host_s / profile.alone_s());
  } else {
    use.gpu = UsualBusyPart(spans);
    if (spans) use.link = 1 - use.gpu;
  }
  if (gang.max_slowdown > 0) use.floor = std::min(1.0, 1 / gang.max_slowdown);
  return use;
}

}  // namespace

// Returns how busy a pair usually keeps the GPU. By published profiles, pairs on one node gain 1.13 at best,
// and pairs across nodes gain 1.41 if each has links of its own.
double UsualBusyPart(bool spans) { return spans ? 1 / 1.41 : 1 / 1.13; }

double LockstepCycle(std::span<const Gang* const> gangs, bool spans) {
  double gpu = 0, alone = 0, link = 0, host = 0;
  for (const Gang* gang : gangs) {
    host += gang->profile.host_s;
    gpu += gang->profile.compute_s + gang->profile.spinning * gang->profile.exposed_s;
    alone = std::max(alone, gang->profile.alone_s());
    if (spans) link += gang->profile.link_s;
  }
  return std::max({gpu, alone, link, host});
}

Prediction Predict(std::span<const Gang* const> gangs, bool spans, double efficiency) {
  Prediction found;
  // A decision predicts hundreds of thousands of pairs: the buffer saves an allocation for each.
  alignas(Use) std::array<std::byte, 8 * sizeof(Use)> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  std::pmr::vector<Use> uses(&memory);
  uses.reserve(gangs.size());
  double alone = 0;
  for (const Gang* gang : gangs) {
    uses.push_back(UseOf(*gang, spans));
    alone += gang->profile.alone_s();
    found.source = std::min(found.source, gang->profile.known() ? gang->profile.source : Source::kUnknown);
  }
  if (found.source != Source::kUnknown) {
    found.cycle_s = LockstepCycle(gangs, spans);
    found.lockstep_gain = alone / found.cycle_s;
  }
  if (gangs.size() < 2) {
    found.slowdown.assign(gangs.size(), 1);
    return found;
  }
  const gains::FairRates rates(uses, efficiency);
  found.gain = rates.Sum();
  found.slowdown.reserve(uses.size());
  for (const Use& use : uses) {
    const double rate = rates.Of(use);
    found.slowdown.push_back(rate > 0 ? 1 / rate : 0);
  }
  found.caps_kept = rates.FloorsKept();
  return found;
}

}  // namespace crossover::placement

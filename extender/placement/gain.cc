#include "extender/placement/gain.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>

namespace crossover::placement {
namespace {

// A Need says how much of the GPU, the link and the host one job uses per unit of its rate, and the rate
// below which it must not fall.
struct Need {
  double gpu = 0;
  double link = 0;
  double host = 0;
  double floor = 0;
};

Need NeedOf(const Gang& gang, bool spans) {
  Need need;
  if (gang.profile.known()) {
    const Profile& profile = gang.profile;
    need.gpu = (profile.compute_s + profile.spinning * profile.exposed_s) / profile.alone_s();
    if (spans) need.link = std::min(1.0, profile.link_s / profile.alone_s());
    need.host = std::min(1.0, profile.host_s / profile.alone_s());
  } else {
    need.gpu = UsualBusyPart(spans);
    if (spans) need.link = 1 - need.gpu;
  }
  if (gang.max_slowdown > 0) need.floor = std::min(1.0, 1 / gang.max_slowdown);
  return need;
}

// Computes the rates of jobs that share. No rate is above `top`, unless a job's floor is. All jobs together
// may use the part `top` of the GPU, of the link and of the host.
class Rates {
 public:
  Rates(std::span<const Need> needs, double top) : needs_(needs), top_(top) {}

  double At(const Need& need, double level) const { return std::max(need.floor, std::min(level, top_)); }
  bool Fits(double level) const {
    double gpu = 0, link = 0, host = 0;
    for (const Need& need : needs_) {
      gpu += need.gpu * At(need, level);
      link += need.link * At(need, level);
      host += need.host * At(need, level);
    }
    return std::max({gpu, link, host}) <= top_;
  }
  // Returns the highest level that fits. At this level no job could get more without taking from one that
  // has less.
  double Fair() const {
    if (Fits(top_)) return top_;
    double gpu = 0, link = 0, host = 0, floor = 0;
    for (const Need& need : needs_) {
      gpu += need.gpu;
      link += need.link;
      host += need.host;
      floor = std::max(floor, need.floor);
    }
    const double level = top_ / std::max({gpu, link, host});
    if (level >= floor) return level;
    double low = 0, high = top_;
    for (int i = 0; i < 40; ++i) {
      const double middle = (low + high) / 2;
      (Fits(middle) ? low : high) = middle;
    }
    return low;
  }
  // Returns whether all caps can be kept, with a reserve for the other jobs and for disturbances.
  bool CapsKept() const {
    double gpu = 0;
    for (const Need& need : needs_) {
      if (need.floor > top_) return false;
      gpu += need.gpu * need.floor;
    }
    return gpu <= kPromised * top_ && Fits(0);
  }

 private:
  std::span<const Need> needs_;
  double top_;
};

}  // namespace

// By published profiles, pairs on one node gain 1.13 at best, and pairs across nodes gain 1.41 where each
// has links of its own.
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
  alignas(Need) std::array<std::byte, 8 * sizeof(Need)> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  std::pmr::vector<Need> needs(&memory);
  needs.reserve(gangs.size());
  double alone = 0;
  for (const Gang* gang : gangs) {
    needs.push_back(NeedOf(*gang, spans));
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
  const Rates rates(needs, efficiency);
  const double level = rates.Fair();
  found.gain = 0;
  found.slowdown.reserve(needs.size());
  for (const Need& need : needs) {
    const double rate = rates.At(need, level);
    found.gain += rate;
    found.slowdown.push_back(rate > 0 ? 1 / rate : 0);
  }
  found.caps_kept = rates.CapsKept();
  return found;
}

}  // namespace crossover::placement

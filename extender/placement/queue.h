// In which order waiting gangs are served.
//
// Those that have waited for too long come first, the oldest before others. Then by priority; then the
// namespace that has the fewest GPUs, shared ones counted in parts, each GPU that is given out on the way
// included; then who came first. Pure.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "extender/placement/occupancy.h"
#include "extender/placement/patience.h"

namespace crossover::placement {

class Queue {
 public:
  Queue(const Occupancy& occupancy, std::span<const Gang* const> waiting, double now_s,
        const Settings& settings);

  // The next to be served that was neither served nor taken; null: none is left.
  const Gang* Next();
  // It is served out of its order.
  void Take(const Gang& gang) { taken_.insert(&gang); }
  // It got its GPUs.
  void Charge(const Gang& gang) { used_[gang.space] += gang.gpus(); }
  // Also one for which GPUs are kept already: it stays so until it has them.
  bool Starves(const Gang& gang) const {
    return gang.arrived_s + patience_.Of(gang) <= now_s_ || gang.id == kept_for_;
  }
  // What part of the GPUs that are to be kept for it may be busy.
  double MayBeBusy(const Gang& gang) const {
    return gang.id == kept_for_ ? 1 : BusyPart(now_s_ - gang.arrived_s, patience_.Of(gang));
  }

 private:
  using Line = std::vector<const Gang*>;  // the first to be served is at the back
  const Gang* Pop(Line& line);

  double now_s_;
  Patience patience_;
  std::string_view kept_for_;
  Line starving_;
  std::map<Priority, std::map<std::string_view, Line>, std::greater<>> lines_;
  std::map<std::string_view, double> used_;
  std::set<const Gang*> taken_;
};

}  // namespace crossover::placement

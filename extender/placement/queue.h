// Decides in which order waiting gangs of one rank are served. The engine serves the ranks one after the
// other, the highest first.
//
// Gangs that have waited for too long come first, the oldest before the others. The rest is ordered by
// priority, then by the namespace that has the fewest GPUs, then by arrival. A GPU that gangs share counts
// in parts. GPUs that this decision gives out count once the caller has called Charge(). Pure.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "extender/placement/occupancy.h"
#include "extender/placement/starvation.h"

namespace crossover::placement {

// A Queue serves each waiting gang once. REQUIRES: the gangs have one rank, and they and the State outlive
// the Queue.
class Queue {
 public:
  // Puts `waiting` into order. `now_s` is on the clock of Gang::arrived_s and Placed::started_s.
  Queue(const Occupancy& occupancy, std::span<const Gang* const> waiting, double now_s,
        const Settings& settings);

  // Returns the next gang that was neither served nor taken, or null if none is left.
  const Gang* Next();
  // Marks a gang as served out of order: Next() will not return it.
  void Take(const Gang& gang) { taken_.insert(&gang); }
  // Counts the gang's GPUs for its namespace. Call this when the gang gets them.
  void Charge(const Gang& gang) { used_[gang.space] += gang.gpus(); }
  // Returns whether the gang has waited for too long. That is always true for the gang that GPUs are kept
  // for.
  bool Starves(const Gang& gang) const {
    return gang.arrived_s + patience_.Of(gang) <= now_s_ || gang.id == kept_for_;
  }
  // Returns which part (0 to 1) of the GPUs to be kept for the gang may be busy.
  double MayBeBusy(const Gang& gang) const {
    return gang.id == kept_for_ ? 1 : BusyPart(now_s_ - gang.arrived_s, patience_.Of(gang));
  }

 private:
  using Line = std::vector<const Gang*>;  // in reverse order: the next gang is at the back
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

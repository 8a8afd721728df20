// What administrators may say about gangs.
#pragma once

#include <string>
#include <vector>

#include "extender/placement/settings.h"

namespace crossover::extender {

struct GangSettings {
  placement::Settings placement;
  // Topology labels of nodes, the widest first.
  std::vector<std::string> domains = {"topology.kubernetes.io/region", "topology.kubernetes.io/zone"};
  double deadline_s = 120;      // from a plan to the binding of all its pods
  double hold_s = 25;           // a bind is answered within this: less than the scheduler waits for
  double ungate_after_s = 300;  // without a plan: then autoscalers see the pods; below 0: never
  // Between a failed plan and the next, and for how long a node is left out that would not have a pod:
  // doubles each time.
  double hold_off_s = 5, most_hold_off_s = 600;
  double exclude_s = 30, most_exclude_s = 1800;
  double plan_every_s = 0.2;  // at most that often is all that waits decided about
  double tell_every_s = 30;   // at most that often is a pod told anew why it waits, more and more seldom
  double owner_every_s =
      10;  // between two looks at an owner whose size is not known, or does not fit the pods
  // For how long the place of a pod that is gone is kept for the next: longer than Job's controller pauses at
  // most before it makes a pod again (six minutes). Not for ever: GPUs that nobody uses and no quota counts
  // any more are others'.
  double seats_kept_s = 600;
  double settle_s = 60;  // after a binding both what was assigned and what its node says is taken
};

}  // namespace crossover::extender

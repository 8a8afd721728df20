// Defines what administrators can configure about gangs.
#pragma once

#include <string>
#include <vector>

#include "extender/cluster/communication.h"
#include "extender/placement/settings.h"

namespace crossover::extender {

struct GangSettings {
  placement::Settings placement;
  // `domains` names the topology labels of nodes, the widest domain first.
  std::vector<std::string> domains = {"topology.kubernetes.io/region", "topology.kubernetes.io/zone"};
  GpuSpeeds gpu_speeds;     // the speeds count if a gang has GPUs of several models
  double deadline_s = 120;  // from the start of a plan to the binding of all its pods
  double hold_s = 25;       // a bind is answered within this; shorter than the scheduler's timeout
  // The gates of a gang without a plan are lifted this long after the first pod that has one was made, for
  // autoscalers; below 0: never.
  double ungate_after_s = 300;
  // hold_off_s is the pause between a failed plan and the next. It doubles each time, up to the second value.
  double hold_off_s = 5, most_hold_off_s = 600;
  // The gang leaves out a node for exclude_s if a scheduler refused to put a pod there. The time doubles in
  // the same way.
  double exclude_s = 30, most_exclude_s = 1800;
  // A half gang whose eviction a disruption budget forbids is tried again after this. It doubles in the same
  // way.
  double retry_evict_s = 30, most_retry_evict_s = 600;
  // A gang of higher priority that finds no place makes gangs of lower priority leave. A gang that left is
  // spared for spare_s from then on, and for spare_s after it has GPUs again.
  bool preemption = true;
  double spare_s = 600;
  double plan_every_s = 0.2;  // the shortest time between two decisions about all waiting gangs
  double tell_every_s = 30;   // the shortest time between two events that say why a pod waits; it grows
  // This is the time between two reads of an owner whose size is not known or does not match the pods.
  double owner_every_s = 10;
  // The seat of a pod that is gone is kept for this long for the next one. That is longer than the longest
  // pause of the Job controller before it makes a pod again (six minutes). It is limited, because no job uses
  // these GPUs and no quota counts them.
  double seats_kept_s = 600;
  // For settle_s after a binding, both the assigned GPUs and those that the node reports count as taken.
  double settle_s = 60;
};

}  // namespace crossover::extender

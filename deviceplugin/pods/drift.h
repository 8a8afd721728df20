// What a kubelet did, compared with what was wanted: which containers have other GPUs than they were
// assigned, and which GPUs more than one rank of a gang. A kubelet may do so whenever it likes; what it did
// counts. Pure.
#pragma once

#include <string>
#include <vector>

#include "deviceplugin/pods/checkpoint.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

struct Drift {
  std::string pod_uid;
  std::string container;
  std::vector<std::string> assigned;  // UUIDs, sorted
  std::vector<std::string> given;

  friend bool operator==(const Drift&, const Drift&) = default;
};

// Of containers that were assigned something and have something; those of pods that are over do not count.
std::vector<Drift> FindDrift(const std::vector<Pod>& pods, const std::vector<HandedOut>& handed_out);

struct Collision {
  std::string gang;
  std::string gpu_uuid;
  std::vector<std::string> pods;  // UIDs, the one that came first in front: two at least

  friend bool operator==(const Collision&, const Collision&) = default;
};

// An ID that several pods have: a kubelet may give it out twice when a pod ends meanwhile.
struct Double {
  std::string id;
  std::vector<std::string> pods;  // UIDs, the one that came first in front: two at least

  friend bool operator==(const Double&, const Double&) = default;
};

// Containers of one pod may have one ID after the other. Pods that are over do not count.
std::vector<Double> FindDoubles(const std::vector<Pod>& pods, const std::vector<HandedOut>& handed_out);

// Pods of one gang on one GPU; those that are over do not count.
std::vector<Collision> FindCollisions(const std::vector<Pod>& pods, const std::vector<HandedOut>& handed_out);

}  // namespace crossover::deviceplugin

// Compares the slots that the kubelet has handed out with the placement (drift.h). Reports each difference
// once, and decides which pods to evict because of it. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/kube/events.h"
#include "deviceplugin/pods/drift.h"

namespace crossover::deviceplugin {

class KubeletCheck {
 public:
  using Time = std::int64_t;
  // A gang is restarted at most kMostRestarts times, until it has needed no restart for kForgetRestarts. Two
  // tries are at least kBetweenRestarts apart. Times are in ns. These limits exist because restarts do not
  // help if a kubelet does the same repeatedly.
  static constexpr int kMostRestarts = 3;
  static constexpr Time kBetweenRestarts = 30'000'000'000;
  static constexpr Time kForgetRestarts = 3'600'000'000'000;

  struct Found {
    std::vector<Drift> drifts;
    std::vector<Collision> collisions;
    std::vector<DuplicateAllocation> doubles;

    friend bool operator==(const Found&, const Found&) = default;
  };

  // Calls `tell` for each new difference.
  explicit KubeletCheck(std::function<void(kube::Event)> tell) : tell_(std::move(tell)) {}

  // Returns the pods to evict: the youngest pod of each conflict. It is returned only if its controller
  // creates a replacement and no pod of the conflict is being deleted already. kMostRestarts and
  // kBetweenRestarts must also allow a restart. Two kinds of conflict count: several pods have the same slot,
  // or several ranks of a gang are on one GPU. The latter counts only if the youngest pod is not on the GPUs
  // that it was assigned. `now` is in ns of any clock.
  std::vector<Pod> Look(const std::vector<Pod>& pods, const std::vector<DeviceAllocation>& handed_out,
                        Time now);

  // Counts a restart of the pod's gang. Call it when the API server has accepted the eviction: a refused
  // try is not a restart.
  void NoteMadeAnew(const Pod& pod);

  // Returns the differences and conflicts of the last Look().
  Found found() const;
  // Returns the GPUs that must have no turns, by UUID, with the reason.
  std::map<std::string, std::string> held() const;

 private:
  struct Restarts {
    int count = 0;
    std::optional<Time> tried;  // time of the last try
    Time seen = 0;              // last time that it needed a restart
  };

  void Say(const Drift& drift, const Pod& pod) const;
  bool MayTry(const std::string& gang, Time now);

  const std::function<void(kube::Event)> tell_;
  mutable std::mutex mutex_;
  Found found_;
  std::map<std::string, Restarts> restarts_;  // by gang
};

}  // namespace crossover::deviceplugin

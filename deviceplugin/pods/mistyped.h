// Finds switches with invalid values, which therefore have no effect, and tells their owners: each gets an
// event on the object that has the switch. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/events.h"
#include "deviceplugin/pods/pod.h"
#include "deviceplugin/switches/namespaces.h"

namespace crossover::deviceplugin {

class Mistyped {
 public:
  // Holds all objects with switches: the pods of the node, the namespaces and the node itself.
  struct Switches {
    std::vector<Pod> pods;  // pods that have ended do not count
    Namespaces::Faults namespaces;
    std::string node;  // name of the node
    std::vector<std::string> of_node;
  };

  // Logs each error that was not there at the previous look, and returns an event for it. Namespaces belong
  // to the whole cluster, so every node finds their errors. Such an event is in that namespace and is sent
  // once in the cluster.
  std::vector<kube::Event> Look(const Switches& switches);

  // Returns the number of errors by kind of the object: Node, Namespace, Pod.
  std::map<std::string, std::uint64_t> counts() const;

 private:
  using One = std::pair<kube::Regarding, std::string>;  // the object, and what is wrong

  mutable std::mutex mutex_;
  std::set<One> known_;  // as of the last look
};

}  // namespace crossover::deviceplugin

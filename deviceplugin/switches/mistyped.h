// Switches that are mistyped and therefore not heeded: whoever set one is told where it stands. Thread-safe.
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
  // All there is: pods of the node, namespaces, and the node itself.
  struct Switches {
    std::vector<Pod> pods;  // those that are over do not count
    Namespaces::Faults namespaces;
    std::string node;  // its name
    std::vector<std::string> of_node;
  };

  // An event, and a line of the log, for each that was not there at the last look. Those of a namespace are
  // of the whole cluster, each of whose nodes finds them: they are in that namespace, and told once.
  std::vector<kube::Event> Look(const Switches& switches);

  // How many there are, by kind of the object: Node, Namespace, Pod.
  std::map<std::string, std::uint64_t> counts() const;

 private:
  using One = std::pair<kube::Regarding, std::string>;  // on which object, and what is wrong

  mutable std::mutex mutex_;
  std::set<One> known_;  // as of the last look
};

}  // namespace crossover::deviceplugin

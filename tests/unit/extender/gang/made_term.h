// Makes the constraints of pods of these tests. They are of the pods with a label app.
#pragma once

#include <string>

#include "common/kube/pod_constraints.h"

namespace crossover::extender {

inline constexpr char kZone[] = "topology.kubernetes.io/zone";

inline kube::LabelSelector Meaning(const std::string& app) {
  return {.nothing = false, .labels = {{"app", app}}, .expressions = {}};
}
inline kube::PodTerm TermOf(const char* topology, const std::string& app) {
  return {.topology = topology, .selector = Meaning(app), .namespaces = {}};
}

}  // namespace crossover::extender

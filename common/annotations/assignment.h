// Reads and writes the annotation crossover.dev/assignment: {"containers": {"main": ["GPU-.."]}}. The
// scheduler extender writes it with the pod's binding, and the node daemon obeys it. Pure; no function
// throws.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace crossover::annotations {

// This map holds GPU UUIDs by container name. Containers that request no GPU are not in it.
using GpusByContainer = std::map<std::string, std::vector<std::string>>;

// Returns the field "containers" of `object`. Leaves out values that are not strings.
GpusByContainer ContainersIn(const nlohmann::json& object);

// Returns the text of the annotation.
std::string WriteAssignment(const GpusByContainer& containers);
// Parses the text of the annotation. Returns an empty map if the text is not valid.
GpusByContainer ReadAssignment(const std::string& text);

}  // namespace crossover::annotations

// The annotation crossover.dev/assignment, which comes with a pod's binding: {"containers": {"main":
// ["GPU-.."]}}. Written by whoever places pods, heeded on their nodes. Pure; none of it throws.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace crossover::annotations {

// UUIDs of GPUs by container; containers that ask for none are not in it.
using GpusByContainer = std::map<std::string, std::vector<std::string>>;

// Of the object's "containers"; what in it is no text is left out.
GpusByContainer ContainersIn(const nlohmann::json& object);

std::string WriteAssignment(const GpusByContainer& containers);
// Empty for what is none.
GpusByContainer ReadAssignment(const std::string& text);

}  // namespace crossover::annotations

// Objects of the API server as the model has them. Pure; whatever an object says, nothing throws.
//
// Nothing for what lacks a name that it is known by. Any other field that is missing or malformed counts as
// not set; numbers are cut to what a machine could have.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "extender/cluster/model.h"

namespace crossover::extender {

// Of others' annotations only short ones are kept: what controllers say of a pod's place in its job, and not
// what tools store there.
inline constexpr std::size_t kLongestOthersAnnotation = 256;
inline constexpr std::size_t kLongestMessage = 1024;  // of a condition; longer ones are cut

std::optional<Pod> ParsePod(const nlohmann::json& object);
std::optional<Node> ParseNode(const nlohmann::json& object);
std::optional<GpuNode> ParseGpuNode(const nlohmann::json& object);
// What was measured is preferred to what a user says.
std::optional<JobProfile> ParseJobProfile(const nlohmann::json& object);
// Whether its user wrote figures into the spec of a JobProfile.
bool HasHints(const nlohmann::json& spec);

inline constexpr std::size_t kMostJobsOfNode = 256;
// What a GPUNode says of its node's jobs. Those without namespace or gang are left out, as are figures and
// gains that cannot be.
std::vector<GpuNode::Job> JobsOf(const nlohmann::json& gpu_node);

}  // namespace crossover::extender

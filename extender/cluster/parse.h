// Converts objects of the API server into those of the model. Pure. No function here throws, whatever an
// object contains.
//
// Each Parse..() returns nothing for an object without the name or UID that identifies it. Any other field
// that is missing or malformed counts as not set. Numbers are limited to what a machine could have.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "extender/cluster/model.h"

namespace crossover::extender {

// ParsePod() drops an annotation of another domain whose value has more bytes. Controllers write a pod's
// place in its job as a short text; other tools store long ones.
inline constexpr std::size_t kLongestOthersAnnotation = 256;
inline constexpr std::size_t kLongestMessage = 1024;  // bytes of a condition's message; longer ones are cut

std::optional<Pod> ParsePod(const nlohmann::json& object);
std::optional<Budget> ParseBudget(const nlohmann::json& object);
std::optional<Node> ParseNode(const nlohmann::json& object);
std::optional<GpuNode> ParseGpuNode(const nlohmann::json& object);
// Prefers measured figures (status) to those of a user (spec). The key is what the spec says, or else the
// object's name. Leaves out runs without a gang and meetings with neither a mean gain nor single gains, and
// what is above kMostRuns and kMostGains. A text of more than kLongestText bytes counts as not set, and so
// does the whole `communication` if a part of it is malformed.
std::optional<JobProfile> ParseJobProfile(const nlohmann::json& object);

inline constexpr std::size_t kMostJobsOfNode = 256;
// Returns the jobs that a GPUNode names, at most kMostJobsOfNode. Leaves out jobs without namespace, gang or
// a plausible time, meetings without a plausible gain and time, and malformed calls. A figure that is out of
// range counts as 0.
std::vector<GpuNode::Job> JobsOf(const nlohmann::json& gpu_node);

}  // namespace crossover::extender

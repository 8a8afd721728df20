// By which key what is learned of a pod's job is known, in its namespace. Pure; nothing in it throws.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::kube {

inline constexpr std::size_t kLongestProfileKey = 253;

// The annotation crossover.dev/profile-key, cut where it is too long (with a hash of the whole). Where there
// is none: the name of whoever made the pod, without what tells one run from another (the numbers and random
// endings of "nightly-29387160-x7k2p"), and a hash of what the pod's template says of the containers that ask
// for slots: image, command, arguments and slots, and of the gang's size. Runs of one job have the same key;
// one that is started with other arguments has another. Environment variables count for nothing, since those
// of one gang differ: jobs that differ in them alone need the annotation. Empty for what is no pod.
std::string ProfileKeyOf(const nlohmann::json& pod);

// The name of the job to which a pod belongs, by the labels of whoever made it, the most telling first; empty
// where none says it.
std::string JobNamedBy(const nlohmann::json& labels);

}  // namespace crossover::kube

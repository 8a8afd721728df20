// Computes the key under which the profile of a pod's job is stored in its namespace. Pure; no function
// throws.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::kube {

inline constexpr std::size_t kLongestProfileKey = 253;

// Returns the annotation crossover.dev/profile-key. A value that is too long is cut and gets a hash of the
// whole.
//
// Without the annotation the key has two parts. The first is the name of the pod's owner without the numbers
// and random endings that distinguish runs ("nightly-29387160-x7k2p"). The second is a hash of the annotation
// crossover.dev/gang-size and of the containers that have a limit of slots: image, command, arguments and
// slots. Runs of one job have the same key. A run with other arguments has another key.
//
// A job whose reductions are compressed has the key of its runs without, and the level behind it
// ("train-8f3a+q8"): its times are others. With crossover.dev/shrink: auto that is the level that was chosen.
//
// Environment variables do not count, since they differ within a gang: jobs that differ only in them need
// the annotation. Returns "" if `pod` has no owner and no name.
std::string ProfileKeyOf(const nlohmann::json& pod);

// Returns the key of runs without compression.
std::string WithoutLevel(const std::string& key);

// Returns the name of the job that a pod belongs to, from the labels that its controller sets. The most
// specific label wins. Returns "" if no such label is set.
std::string JobNamedBy(const nlohmann::json& labels);
std::string JobNamedBy(const std::map<std::string, std::string>& labels);

}  // namespace crossover::kube

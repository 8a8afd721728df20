// Tells which users the processes of a pod that use GPUs run as. MPS distinguishes users. Pure; no function
// throws.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>

namespace crossover::kube {

// A UserId is empty if the image decides, which usually means root.
using UserId = std::optional<std::uint32_t>;

// Returns the user IDs of the containers with slots, init containers among them. If no container has slots,
// returns the user ID that the pod names. `spec` is that of the pod.
std::set<UserId> UsersOf(const nlohmann::json& spec);

// Returns whether the pod has a user namespace (hostUsers: false). The kernel then maps each of its user IDs
// to one that no other pod has.
bool HasOwnUsers(const nlohmann::json& spec);

}  // namespace crossover::kube

#include "common/kube/pod_users.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/kube/json.h"
#include "common/kube/slots.h"

namespace crossover::kube {
namespace {

// Returns the user ID that `object`, a pod's spec or a container, names. Takes an ID that is out of range for
// the nearest one that is not.
UserId UserIn(const nlohmann::json& object) {
  const nlohmann::json& user = At(At(object, "securityContext"), "runAsUser");
  if (!user.is_number_integer()) return std::nullopt;
  if (!user.is_number_unsigned() && user.get<std::int64_t>() < 0) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(user.get<std::uint64_t>(), UINT32_MAX));
}

}  // namespace

std::set<UserId> UsersOf(const nlohmann::json& spec) {
  const UserId of_pod = UserIn(spec);
  std::set<UserId> users;
  for (const char* key : {"initContainers", "containers"}) {
    for (const nlohmann::json& container : ListAt(spec, key)) {
      if (SlotsOf(container) == 0) continue;
      const UserId own = UserIn(container);
      users.insert(own ? own : of_pod);
    }
  }
  if (users.empty()) users.insert(of_pod);
  return users;
}

bool HasOwnUsers(const nlohmann::json& spec) {
  const nlohmann::json& of_host = At(spec, "hostUsers");
  return of_host.is_boolean() && !of_host.get<bool>();
}

}  // namespace crossover::kube

#include "common/kube/pod_requests.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "common/kube/json.h"
#include "common/kube/quantity.h"

namespace crossover::kube {
namespace {

using nlohmann::json;

void Raise(const Requests& to, Requests* requests) {
  requests->milli_cpu = std::max(requests->milli_cpu, to.milli_cpu);
  requests->memory_bytes = std::max(requests->memory_bytes, to.memory_bytes);
  for (const auto& [name, count] : to.others)
    requests->others[name] = std::max(requests->others[name], count);
}

// Returns a container's requests. `statuses` are the container statuses that the kubelet reports.
Requests OfContainer(const json& container, const json& statuses) {
  Requests requests = AmountsIn(At(At(container, "resources"), "requests"));
  if (!statuses.is_array()) return requests;
  for (const json& status : statuses) {
    if (Text(At(status, "name")) != Text(At(container, "name"))) continue;
    Raise(AmountsIn(At(status, "allocatedResources")), &requests);
    Raise(AmountsIn(At(At(status, "resources"), "requests")), &requests);
  }
  return requests;
}

}  // namespace

std::int64_t Sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

Requests AmountsIn(const json& list) {
  Requests read;
  if (!list.is_object()) return read;
  for (const auto& [name, amount] : list.items()) {
    if (name == "cpu") {
      read.milli_cpu = QuantityOf(amount, 1000);
    } else if (name == "memory") {
      read.memory_bytes = QuantityOf(amount);
    } else if (const std::int64_t count = QuantityOf(amount); count > 0) {
      read.others[name] = count;
    }
  }
  return read;
}

Requests& Requests::operator+=(const Requests& more) {
  milli_cpu = Sum(milli_cpu, more.milli_cpu);
  memory_bytes = Sum(memory_bytes, more.memory_bytes);
  for (const auto& [name, count] : more.others) others[name] = Sum(others[name], count);
  return *this;
}

Requests RequestsOf(const json& pod) {
  const json& spec = At(pod, "spec");
  const json& status = At(pod, "status");
  Requests together, sidecars, most;
  if (const json& containers = At(spec, "containers"); containers.is_array()) {
    for (const json& container : containers)
      together += OfContainer(container, At(status, "containerStatuses"));
  }
  if (const json& containers = At(spec, "initContainers"); containers.is_array()) {
    for (const json& container : containers) {
      Requests requests = OfContainer(container, At(status, "initContainerStatuses"));
      if (Text(At(container, "restartPolicy")) == "Always") {
        sidecars += requests;
      } else {
        requests += sidecars;  // the sidecars before it run at the same time
        Raise(requests, &most);
      }
    }
  }
  together += sidecars;
  Raise(most, &together);
  const json& whole = At(At(spec, "resources"), "requests");
  if (!At(whole, "cpu").is_null()) together.milli_cpu = QuantityOf(At(whole, "cpu"), 1000);
  if (!At(whole, "memory").is_null()) together.memory_bytes = QuantityOf(At(whole, "memory"));
  for (const auto& [name, count] : AmountsIn(whole).others) {
    if (name.starts_with("hugepages-")) together.others[name] = count;
  }
  together += AmountsIn(At(spec, "overhead"));
  return together;
}

}  // namespace crossover::kube

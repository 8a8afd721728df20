// Adds up the resources that a pod requests, as the Kubernetes scheduler does. Pure; no function throws.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::kube {

// Requests holds amounts of resources. `others` has the other resources by name, each in its own unit.
struct Requests {
  std::int64_t milli_cpu = 0;
  std::int64_t memory_bytes = 0;
  std::map<std::string, std::int64_t> others;

  // Adds the amounts. A sum saturates at the limits of int64.
  Requests& operator+=(const Requests& more);
  friend bool operator==(const Requests&, const Requests&) = default;
};

inline constexpr char kPods[] = "pods";  // the resource of which each pod takes one

// Returns a + b, saturated at the limits of int64.
std::int64_t Sum(std::int64_t a, std::int64_t b);

// Returns the amounts in an object of amounts by resource, such as `requests` or `allocatable`.
Requests AmountsIn(const nlohmann::json& list);

// Returns the requests of a pod as the API server has it: the sum over its containers and sidecars. An init
// container counts with the sidecars before it, if that is more. Requests of the pod as a whole replace
// these sums. The pod's overhead is added. While a container is resized, the greater of its request and its
// present allocation counts.
Requests RequestsOf(const nlohmann::json& pod);

}  // namespace crossover::kube

// Amounts of resources, and what a pod asks of its node, by a scheduler's arithmetic. Pure; nothing in it
// throws.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::kube {

// CPU in thousandths, memory in bytes, all else in its own unit by its name.
struct Requests {
  std::int64_t milli_cpu = 0;
  std::int64_t memory_bytes = 0;
  std::map<std::string, std::int64_t> others;

  // What is too much is the most there can be.
  Requests& operator+=(const Requests& more);
  friend bool operator==(const Requests&, const Requests&) = default;
};

// What is too much, or too little, is what of that there can be.
std::int64_t Sum(std::int64_t a, std::int64_t b);

// Of a list of amounts by resource, as in requests and allocatable.
Requests AmountsIn(const nlohmann::json& list);

// Of a pod as the API server has it: its containers and sidecars together, or more where one that initialises
// needs more beside the sidecars before it; what the pod asks as a whole in place of that; and its overhead.
// While a container is resized, the greater of what it asks for and what it has.
Requests RequestsOf(const nlohmann::json& pod);

}  // namespace crossover::kube

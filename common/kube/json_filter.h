// Parses JSON objects without the fields that no reader needs, which are most of a node's object. No
// function throws.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace crossover::kube {

// The fields of an object's metadata, spec and status are at these depths: kInEvent in an event, kInList in a
// list.
inline constexpr int kInEvent = 3;  // {"type": .., "object": {"metadata": {
inline constexpr int kInList = 4;   // {"items": [{"metadata": {

// Parses like json::parse. Leaves out, at depth `depth`, the fields in `without`, and managedFields. Returns
// a discarded value if `text` is not JSON.
nlohmann::json ParseWithout(std::string_view text, const std::set<std::string>& without, int depth);

}  // namespace crossover::kube

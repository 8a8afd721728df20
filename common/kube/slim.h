// Objects without what nobody reads, which is most of a node. None of it throws.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>

namespace crossover::kube {

// How deep the fields of an object's metadata, spec and status stand.
inline constexpr int kInEvent = 3;  // {"type": .., "object": {"metadata": {
inline constexpr int kInList = 4;   // {"items": [{"metadata": {

// Like json::parse, without the fields `without` and managedFields. Discarded where it is no JSON.
nlohmann::json ParseWithout(std::string_view text, const std::set<std::string>& without, int depth);

}  // namespace crossover::kube

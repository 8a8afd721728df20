#include "extender/placement/fabric.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace crossover::placement {
namespace {

// Sets the speeds of the uplinks, those above the nodes to 1, if the nodes tell theirs and not all are alike.
// `links` has the speed of each domain of the nodes' level, 0 where it is not known.
void AddSpeeds(std::vector<double> links, Fabric* fabric) {
  const bool known = std::ranges::find(links, 0.0) == links.end();
  if (!known || std::ranges::adjacent_find(links, std::ranges::not_equal_to()) == links.end()) return;
  for (const std::vector<int>& level : fabric->domains)
    fabric->speeds.emplace_back(static_cast<std::size_t>(std::ranges::max(level)) + 1, 1.0);
  fabric->speeds.back() = std::move(links);
}

}  // namespace

Fabric FabricOf(std::span<const SeatPlace> seats, std::size_t levels) {
  Fabric fabric{.domains = std::vector<std::vector<int>>(levels + 1)};
  std::map<std::vector<std::string>, int> numbers;  // by the path of domains from the widest on
  std::vector<int> counts(levels + 1);
  std::vector<double> links;  // by domain of the nodes' level
  for (const SeatPlace& seat : seats) {
    std::vector<std::string> path;
    for (std::size_t level = 0; level <= levels; ++level) {
      path.push_back(level == levels ? seat.node : level < seat.domains.size() ? seat.domains[level] : "");
      const auto [number, is_new] = numbers.try_emplace(path, counts[level]);
      if (is_new) ++counts[level];
      if (is_new && level == levels) links.push_back(seat.link);
      fabric.domains[level].push_back(number->second);
    }
  }
  AddSpeeds(std::move(links), &fabric);
  return fabric;
}

}  // namespace crossover::placement

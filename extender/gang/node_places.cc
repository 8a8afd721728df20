#include "extender/gang/node_places.h"

namespace crossover::extender {

std::vector<std::string> DomainsOf(const Node& node, const std::vector<std::string>& labels) {
  std::vector<std::string> domains;
  for (std::size_t level = 0; level < labels.size(); ++level) {
    const auto found = node.labels.find(labels[level]);
    if (found == node.labels.end()) continue;
    domains.resize(level);
    domains.push_back(found->second);
  }
  return domains;
}

NodePlaces PlacesOf(const ClusterCache& cache, const std::vector<std::string>& labels) {
  NodePlaces places;
  for (const auto& [name, gpus] : cache.gpu_nodes()) {
    const Node* node = cache.FindNode(name);
    places[name] = {.domains = node != nullptr ? DomainsOf(*node, labels) : std::vector<std::string>(),
                    .node = name,
                    .link = gpus.link_bytes_per_s};
  }
  return places;
}

}  // namespace crossover::extender

#include "extender/placement/matching.h"

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace crossover::placement {

// In whole numbers: with floating ones the algorithm's duals drift, and it need not end.
std::vector<int> HeaviestMatching(int vertices, const std::vector<Edge>& edges, std::vector<double>* prices) {
  if (prices != nullptr) prices->assign(static_cast<std::size_t>(std::max(vertices, 0)), 0);
  double heaviest = 0;
  for (const Edge& edge : edges) {
    if (Counts(edge, vertices)) heaviest = std::max(heaviest, edge.weight);
  }
  if (heaviest == 0) return {};

  const double units = static_cast<double>(1LL << 40) / heaviest;
  using Graph = lemon::SmartGraph;
  Graph graph;
  graph.reserveNode(vertices);
  for (int i = 0; i < vertices; ++i) graph.addNode();
  Graph::EdgeMap<std::int64_t> weight(graph);
  std::vector<int> place;  // in `edges`, of each edge of the graph
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!Counts(edges[i], vertices)) continue;
    const Graph::Edge added = graph.addEdge(Graph::nodeFromId(edges[i].a), Graph::nodeFromId(edges[i].b));
    weight[added] = static_cast<std::int64_t>(edges[i].weight * units);
    place.push_back(static_cast<int>(i));
  }
  using Matching = lemon::MaxWeightedMatching<Graph, Graph::EdgeMap<std::int64_t>>;
  Matching matching(graph, weight);
  matching.run();

  std::vector<int> chosen;
  for (Graph::EdgeIt edge(graph); edge != lemon::INVALID; ++edge) {
    if (matching.matching(edge)) chosen.push_back(place[static_cast<std::size_t>(Graph::id(edge))]);
  }
  std::sort(chosen.begin(), chosen.end());
  for (int i = 0; prices != nullptr && i < vertices; ++i) {
    const auto value = static_cast<double>(matching.nodeValue(Graph::nodeFromId(i)));
    (*prices)[static_cast<std::size_t>(i)] = value / (Matching::dualScale * units);
  }
  return chosen;
}

}  // namespace crossover::placement

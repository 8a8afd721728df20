#include "extender/placement/matching.h"

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace crossover::placement {
namespace {

bool Counts(const Edge& edge, int vertices) {
  return edge.weight > 0 && edge.a != edge.b && edge.a >= 0 && edge.b >= 0 && edge.a < vertices &&
         edge.b < vertices;
}

}  // namespace

// In whole numbers: with floating ones the algorithm's duals drift, and it need not end.
std::vector<int> HeaviestMatching(int vertices, const std::vector<Edge>& edges) {
  double heaviest = 0;
  for (const Edge& edge : edges) {
    if (Counts(edge, vertices)) heaviest = std::max(heaviest, edge.weight);
  }
  if (heaviest == 0) return {};

  using Graph = lemon::SmartGraph;
  Graph graph;
  graph.reserveNode(vertices);
  for (int i = 0; i < vertices; ++i) graph.addNode();
  Graph::EdgeMap<std::int64_t> weight(graph);
  std::vector<int> place;  // in `edges`, of each edge of the graph
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!Counts(edges[i], vertices)) continue;
    const Graph::Edge added = graph.addEdge(Graph::nodeFromId(edges[i].a), Graph::nodeFromId(edges[i].b));
    weight[added] = static_cast<std::int64_t>(edges[i].weight / heaviest * static_cast<double>(1LL << 40));
    place.push_back(static_cast<int>(i));
  }
  lemon::MaxWeightedMatching<Graph, Graph::EdgeMap<std::int64_t>> matching(graph, weight);
  matching.run();

  std::vector<int> chosen;
  for (Graph::EdgeIt edge(graph); edge != lemon::INVALID; ++edge) {
    if (matching.matching(edge)) chosen.push_back(place[static_cast<std::size_t>(Graph::id(edge))]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace crossover::placement

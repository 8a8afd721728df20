#include "extender/placement/matching.h"

#include <lemon/matching.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace crossover::placement {
namespace {

using Graph = lemon::SmartGraph;
using Matching = lemon::MaxWeightedMatching<Graph, Graph::EdgeMap<std::int64_t>>;

Prices PricesOf(const Graph& graph, const Matching& matching, double units) {
  Prices prices(lemon::countNodes(graph));
  for (Graph::NodeIt node(graph); node != lemon::INVALID; ++node) {
    prices.SetVertex(Graph::id(node), static_cast<double>(matching.nodeValue(node)) / units);
  }
  std::vector<int> sets;
  for (int i = 0; i < matching.blossomNum(); ++i) {
    if (matching.blossomValue(i) > 0) sets.push_back(i);
  }
  std::stable_sort(sets.begin(), sets.end(),
                   [&](int a, int b) { return matching.blossomSize(a) > matching.blossomSize(b); });
  for (const int set : sets) {
    std::vector<int> members;
    for (Matching::BlossomIt node(matching, set); node != lemon::INVALID; ++node) {
      members.push_back(Graph::id(node));
    }
    prices.AddSet(members, static_cast<double>(matching.blossomValue(set)) / units);
  }
  return prices;
}

}  // namespace

Prices::Prices(int vertices)
    : vertices_(static_cast<std::size_t>(vertices)), around_(static_cast<std::size_t>(vertices)) {}

void Prices::SetVertex(int vertex, double price) {
  vertices_[static_cast<std::size_t>(vertex)] = price;
  sum_ += price;
}

void Prices::AddSet(const std::vector<int>& vertices, double price) {
  for (const int vertex : vertices) {
    std::vector<Around>& around = around_[static_cast<std::size_t>(vertex)];
    around.push_back({sets_, price + (around.empty() ? 0 : around.back().price)});
  }
  ++sets_;
  const std::size_t pairs = vertices.size() / 2;  // the most edges of a matching inside a set of odd size
  sum_ += price * static_cast<double>(pairs);
}

double Prices::Of(int a, int b) const {
  const auto left = static_cast<std::size_t>(a), right = static_cast<std::size_t>(b);
  const std::vector<Around>&one = around_[left], &other = around_[right];
  double both = 0;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()) && one[i].set == other[i].set; ++i) {
    both = one[i].price;
  }
  return vertices_[left] + vertices_[right] + both;
}

// Scales the weights to integers. With floating-point weights LEMON's dual values drift, and the algorithm
// may not terminate.
std::vector<int> HeaviestMatching(int vertices, const std::vector<Edge>& edges, Prices* prices) {
  double heaviest = 0;
  for (const Edge& edge : edges) {
    if (Counts(edge, vertices)) heaviest = std::max(heaviest, edge.weight);
  }
  const double units = static_cast<double>(1LL << 40) / heaviest;  // infinite if no edge counts
  Graph graph;
  graph.reserveNode(vertices);
  for (int i = 0; i < vertices; ++i) graph.addNode();
  Graph::EdgeMap<std::int64_t> weight(graph);
  std::vector<int> place;  // index into `edges`, by the id of an edge of the graph
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!Counts(edges[i], vertices)) continue;
    const Graph::Edge added = graph.addEdge(Graph::nodeFromId(edges[i].a), Graph::nodeFromId(edges[i].b));
    weight[added] = static_cast<std::int64_t>(edges[i].weight * units);
    place.push_back(static_cast<int>(i));
  }
  Matching matching(graph, weight);
  matching.run();

  std::vector<int> chosen;
  for (Graph::EdgeIt edge(graph); edge != lemon::INVALID; ++edge) {
    if (matching.matching(edge)) chosen.push_back(place[static_cast<std::size_t>(Graph::id(edge))]);
  }
  std::sort(chosen.begin(), chosen.end());
  if (prices != nullptr) *prices = PricesOf(graph, matching, Matching::dualScale * units);
  return chosen;
}

}  // namespace crossover::placement

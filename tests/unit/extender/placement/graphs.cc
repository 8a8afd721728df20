#include "tests/unit/extender/placement/graphs.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace crossover::placement {
namespace {

const Edge& At(const std::vector<Edge>& edges, int place) { return edges[static_cast<std::size_t>(place)]; }

// Returns the weight of the heaviest matching of the vertices from `vertex` on, by trying every matching.
// `used` has a bit for each vertex that is matched already.
double BestFrom(const std::vector<std::vector<double>>& weight, int vertex, unsigned used) {
  const int n = static_cast<int>(weight.size());
  while (vertex < n && (used >> vertex & 1u)) ++vertex;
  if (vertex >= n) return 0;
  double best = BestFrom(weight, vertex + 1, used | 1u << vertex);
  for (int other = vertex + 1; other < n; ++other) {
    const double w = weight[static_cast<std::size_t>(vertex)][static_cast<std::size_t>(other)];
    if ((used >> other & 1u) || w <= 0) continue;
    best = std::max(best, w + BestFrom(weight, vertex + 1, used | 1u << vertex | 1u << other));
  }
  return best;
}

std::vector<int> HeaviestFirst(const std::vector<Edge>& edges) {
  std::vector<int> order(edges.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) { return At(edges, a).weight > At(edges, b).weight; });
  return order;
}

}  // namespace

Instance SmallInstance(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  Instance made{.vertices = 2 + below(9), .edges = {}};
  const int density = 1 + below(10), kind = below(3);
  for (int a = 0; a < made.vertices; ++a) {
    for (int b = a + 1; b < made.vertices; ++b) {
      if (below(10) >= density) continue;
      double w = kind == 0 ? 1 : kind == 1 ? 1 + below(5) : static_cast<double>(below(1 << 20)) / (1 << 20);
      if (kind == 2 && below(4) == 0) w *= 1e-3;
      made.edges.push_back({a, b, w});
    }
  }
  return made;
}

Instance GangInstance(std::uint64_t seed, int vertices) {
  std::mt19937_64 random(seed);
  const auto part = [&] { return static_cast<double>(random() % 1000) / 1000; };
  struct Job {
    double gpu, link, host;
    int space;
  };
  std::vector<Job> jobs;
  const auto models = seed % 3 == 0 ? 8u : static_cast<unsigned>(vertices);
  const unsigned spaces = seed % 4 == 0 ? 5 : 1;
  for (int i = 0; i < vertices; ++i) {
    const auto n = static_cast<std::size_t>(i);
    if (n < models) {
      const double gpu = 0.05 + 0.9 * part();
      jobs.push_back({gpu, seed % 2 == 0 ? 0 : (1 - gpu) * part(), seed % 5 == 0 ? part() : 0, 0});
    } else {
      jobs.push_back(jobs[random() % models]);
    }
    jobs.back().space = static_cast<int>(random() % spaces);
  }
  Instance made{.vertices = vertices, .edges = {}};
  for (int a = 0; a < vertices; ++a) {
    for (int b = a + 1; b < vertices; ++b) {
      const Job &x = jobs[static_cast<std::size_t>(a)], &y = jobs[static_cast<std::size_t>(b)];
      const double most = std::max({1.0, x.gpu + y.gpu, x.link + y.link, x.host + y.host});
      const double gain = 2 * 0.95 / most;
      if (x.space == y.space && gain >= 1.05) made.edges.push_back({a, b, gain - 1});
    }
  }
  return made;
}

double WeightOf(const std::vector<Edge>& edges, const std::vector<int>& chosen) {
  double weight = 0;
  for (const int i : chosen) weight += At(edges, i).weight;
  return weight;
}

bool IsMatching(const std::vector<Edge>& edges, const std::vector<int>& chosen) {
  std::vector<int> ends;
  for (const int i : chosen) {
    ends.push_back(At(edges, i).a);
    ends.push_back(At(edges, i).b);
  }
  std::ranges::sort(ends);
  return std::ranges::adjacent_find(ends) == ends.end();
}

double BruteForce(const Instance& instance) {
  const auto n = static_cast<std::size_t>(instance.vertices);
  std::vector<std::vector<double>> weight(n, std::vector<double>(n, 0));
  for (const Edge& edge : instance.edges) {
    weight[static_cast<std::size_t>(edge.a)][static_cast<std::size_t>(edge.b)] = edge.weight;
  }
  return BestFrom(weight, 0, 0);
}

std::vector<int> Greedy(const Instance& instance) {
  std::vector<int> chosen;
  std::set<int> matched;
  for (const int i : HeaviestFirst(instance.edges)) {
    const Edge& edge = At(instance.edges, i);
    if (edge.weight <= 0 || matched.contains(edge.a) || matched.contains(edge.b)) continue;
    matched.insert({edge.a, edge.b});
    chosen.push_back(i);
  }
  return chosen;
}

std::vector<int> OfFavourites(const Instance& instance, std::size_t each) {
  std::vector<std::size_t> has(static_cast<std::size_t>(instance.vertices));
  std::vector<Edge> some;
  std::vector<int> place;
  for (const int i : HeaviestFirst(instance.edges)) {
    const Edge& edge = At(instance.edges, i);
    std::size_t &a = has[static_cast<std::size_t>(edge.a)], &b = has[static_cast<std::size_t>(edge.b)];
    if (a >= each && b >= each) continue;
    ++a, ++b;
    some.push_back(edge);
    place.push_back(i);
  }
  std::vector<int> chosen;
  for (const int i : HeaviestMatching(instance.vertices, some)) {
    chosen.push_back(place[static_cast<std::size_t>(i)]);
  }
  return chosen;
}

}  // namespace crossover::placement

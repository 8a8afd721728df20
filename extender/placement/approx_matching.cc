#include "extender/placement/approx_matching.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace crossover::placement {
namespace {

constexpr std::size_t kBest = 6;      // edges per vertex and round that are added by their promise
constexpr std::uint64_t kByLot = 10;  // edges per vertex and round that are added at random, on average
constexpr double kRounding = 1e-9;

// Returns a pseudo-random number from 0 to `below` - 1, evenly distributed. It depends on the arguments
// alone.
std::uint64_t Lot(std::uint64_t edge, std::uint64_t below) {
  std::uint64_t mixed = (edge + 1) * 0x9E3779B97F4A7C15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return (mixed ^ (mixed >> 31)) % below;
}

// A Best keeps the kBest edges of one vertex with the largest promise. The promise of an edge is its weight
// less its price: the most that it could add.
class Best {
 public:
  void Offer(double promise, int edge) {
    if (count_ == kBest && promise <= found_[kBest - 1].promise) return;
    std::size_t place = std::min(count_, kBest - 1);
    for (; place > 0 && found_[place - 1].promise < promise; --place) found_[place] = found_[place - 1];
    found_[place] = {promise, edge};
    count_ = std::min(count_ + 1, kBest);
  }
  double most() const { return count_ > 0 ? found_[0].promise : 0; }
  template <typename Visit>
  void Each(Visit visit) const {
    for (std::size_t i = 0; i < count_; ++i) visit(found_[i].edge);
  }

 private:
  struct Found {
    double promise;
    int edge;
  };
  std::array<Found, kBest> found_{};
  std::size_t count_ = 0;
};

// A Search holds the set of edges that the exact algorithm runs on, and enlarges it until the bound is met.
class Search {
 public:
  Search(int vertices, const std::vector<Edge>& edges)
      : vertices_(vertices), edges_(edges), in_(edges.size()), prices_(vertices) {}

  ApproxMatching Run(double part) {
    while (true) {
      const bool any = BringIn();
      if (weight_ >= part * (weight_ + missing_) || !any) {
        found_.bound = (weight_ + missing_) * (1 + kRounding);
        return std::move(found_);
      }
      Solve();
    }
  }

 private:
  // Adds edges that weigh more than their price, and returns whether there were any. Sets `missing_` to the
  // most that all of them together could add: a matching has at most one edge per vertex, and an edge has
  // two vertices.
  bool BringIn() {
    std::vector<Best> best(static_cast<std::size_t>(vertices_));
    std::vector<int> promising;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const Edge& edge = edges_[i];
      if (in_[i] || !Counts(edge, vertices_)) continue;
      const auto a = static_cast<std::size_t>(edge.a), b = static_cast<std::size_t>(edge.b);
      const double promise = edge.weight - prices_.Of(edge.a, edge.b);
      if (promise <= edge.weight * kRounding) continue;
      best[a].Offer(promise, static_cast<int>(i));
      best[b].Offer(promise, static_cast<int>(i));
      promising.push_back(static_cast<int>(i));
    }
    missing_ = 0;
    for (const Best& one : best) {
      missing_ += one.most() / 2;
      one.Each([&](int edge) { in_[static_cast<std::size_t>(edge)] = true; });
    }
    const std::uint64_t wanted = kByLot * static_cast<std::uint64_t>(vertices_);
    for (const int edge : promising) {
      const auto i = static_cast<std::size_t>(edge);
      in_[i] = in_[i] || Lot(i, promising.size()) < wanted;
    }
    return !promising.empty();
  }

  void Solve() {
    std::vector<Edge> some;
    std::vector<int> place;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      if (!in_[i]) continue;
      some.push_back(edges_[i]);
      place.push_back(static_cast<int>(i));
    }
    found_.edges.clear();
    weight_ = 0;
    for (const int chosen : HeaviestMatching(vertices_, some, &prices_)) {
      found_.edges.push_back(place[static_cast<std::size_t>(chosen)]);
      weight_ += some[static_cast<std::size_t>(chosen)].weight;
    }
    found_.looked_at = static_cast<int>(some.size());
  }

  int vertices_;
  const std::vector<Edge>& edges_;
  std::vector<bool> in_;  // which edges the exact algorithm runs on
  Prices prices_;
  double weight_ = 0;
  double missing_ = 0;
  ApproxMatching found_;
};

}  // namespace

ApproxMatching ApproxHeaviestMatching(int vertices, const std::vector<Edge>& edges, double part,
                                      std::size_t exact_edges) {
  if (edges.size() > exact_edges && vertices > 0) return Search(vertices, edges).Run(part);
  ApproxMatching exact{.edges = HeaviestMatching(vertices, edges),
                       .looked_at = static_cast<int>(edges.size())};
  for (const int edge : exact.edges) exact.bound += edges[static_cast<std::size_t>(edge)].weight;
  exact.bound *= 1 + kRounding;
  return exact;
}

}  // namespace crossover::placement

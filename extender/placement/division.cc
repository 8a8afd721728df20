#include "extender/placement/division.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "extender/placement/nested.h"

namespace crossover::placement {
namespace {

constexpr std::size_t kMostCombinations = 20'000;  // of bounds of several divisions

std::size_t Index(int value) { return static_cast<std::size_t>(value); }

int DomainOf(const Division& division, int node) { return division.of[Index(node)]; }

// Bounds hold how many pods of the gang each domain of a division gets.
struct Bounds {
  std::vector<int> least, most;  // by domain
};

// Returns the most pods that the nodes of each domain take.
std::vector<int> RoomsOf(const Division& division, std::span<const Room> rooms) {
  std::vector<int> most(division.there.size());
  for (const Room& room : rooms) {
    const int domain = DomainOf(division, room.node);
    if (domain >= 0) most[Index(domain)] += room.pods;
  }
  if (division.most == 0) return most;
  for (int& pods : most) pods = std::min(pods, division.most);
  return most;
}

// Returns one alternative for each domain that could have all pods.
std::vector<Bounds> TogetherIn(const std::vector<int>& rooms, int pods) {
  std::vector<Bounds> all;
  for (std::size_t d = 0; d < rooms.size(); ++d) {
    if (rooms[d] < pods) continue;
    Bounds bounds{std::vector<int>(rooms.size()), std::vector<int>(rooms.size())};
    bounds.least[d] = bounds.most[d] = pods;
    all.push_back(std::move(bounds));
  }
  return all;
}

// Returns one alternative for each number of pods that the domain with the fewest could have in the end. Any
// binding order that always serves the emptiest domain keeps the skew, if the last pod of each domain does.
std::vector<Bounds> Skewed(const Division& division, const std::vector<int>& there,
                           const std::vector<int>& rooms, int pods) {
  int first = 0, last = 0;
  if (!division.from_none && !there.empty()) {
    first = *std::ranges::min_element(there);
    last = there.front() + rooms.front();
    for (std::size_t d = 0; d < there.size(); ++d) last = std::min(last, there[d] + rooms[d]);
  }
  std::vector<Bounds> all;
  for (int fewest = first; fewest <= last; ++fewest) {
    Bounds bounds{std::vector<int>(rooms.size()), std::vector<int>(rooms.size())};
    int needed = 0;
    for (std::size_t d = 0; d < rooms.size(); ++d) {
      bounds.least[d] = std::max(0, fewest - there[d]);
      bounds.most[d] = std::clamp(fewest + division.skew - there[d], 0, rooms[d]);
      needed += bounds.least[d];
    }
    if (needed > pods) break;
    all.push_back(std::move(bounds));
  }
  return all;
}

std::vector<Bounds> AlternativesOf(const Division& division, std::span<const Room> rooms, int pods,
                                   bool empty) {
  const std::vector<int> most = RoomsOf(division, rooms);
  if (division.together) return TogetherIn(most, pods);
  if (division.skew == 0) return {{std::vector<int>(most.size()), most}};
  const std::vector<int> none(most.size());
  return Skewed(division, empty ? none : division.there, most, pods);
}

// Returns the domains that have a node of `rooms`, as sets of indices into `rooms`, and adds for each set its
// division and domain to `names`.
std::vector<std::vector<int>> SetsOf(std::span<const Division> divisions, std::span<const Room> rooms,
                                     std::vector<std::pair<std::size_t, std::size_t>>* names) {
  std::vector<std::vector<int>> sets;
  for (std::size_t i = 0; i < divisions.size(); ++i) {
    std::map<int, std::vector<int>> by_domain;
    for (std::size_t r = 0; r < rooms.size(); ++r) {
      const int domain = DomainOf(divisions[i], rooms[r].node);
      if (domain >= 0) by_domain[domain].push_back(static_cast<int>(r));
    }
    for (auto& [domain, set] : by_domain) {
      names->emplace_back(i, Index(domain));
      sets.push_back(std::move(set));
    }
  }
  return sets;
}

int NodesOf(const std::vector<int>& chosen) {
  return static_cast<int>(std::ranges::count_if(chosen, [](int pods) { return pods > 0; }));
}

// Returns whether `chosen` has an order of binding. One division with `skew` always leaves one: the emptiest
// domain first.
bool HasOrder(std::span<const Division> divisions, std::span<const Room> rooms,
              const std::vector<int>& chosen) {
  if (std::ranges::count_if(divisions, [](const Division& one) { return one.skew > 0; }) < 2) return true;
  std::vector<int> nodes;
  for (std::size_t r = 0; r < rooms.size(); ++r) nodes.insert(nodes.end(), Index(chosen[r]), rooms[r].node);
  return WavesOf(divisions, nodes).has_value();
}

// A Count follows the pods that one division with `skew` counts, while pods are bound.
class Count {
 public:
  explicit Count(const Division& division) : division_(&division), pods_(division.there) { Begin(); }

  // Begins a wave: the fewest of now counts during it.
  void Begin() { fewest_ = division_->from_none || pods_.empty() ? 0 : *std::ranges::min_element(pods_); }
  bool Takes(int node) const {
    const int domain = DomainOf(*division_, node);
    return domain < 0 || pods_[Index(domain)] + 1 - fewest_ <= division_->skew;
  }
  void Add(int node) {
    if (const int domain = DomainOf(*division_, node); domain >= 0) ++pods_[Index(domain)];
  }

 private:
  const Division* division_;
  std::vector<int> pods_;  // by domain
  int fewest_ = 0;
};

}  // namespace

std::optional<std::vector<int>> Divide(std::span<const Division> divisions, std::span<const Room> rooms,
                                       int pods, bool empty) {
  std::vector<std::pair<std::size_t, std::size_t>> names;
  std::vector<int> takes;
  for (const Room& room : rooms) takes.push_back(room.pods);
  std::optional<Nested> nested = Nested::Of(std::move(takes), SetsOf(divisions, rooms, &names));
  if (!nested) return std::nullopt;
  std::vector<std::vector<Bounds>> alternatives;
  std::size_t combinations = 1;
  for (const Division& division : divisions) {
    alternatives.push_back(AlternativesOf(division, rooms, pods, empty));
    combinations = std::min(kMostCombinations, combinations * alternatives.back().size());
  }
  std::vector<Division> begun(divisions.begin(), divisions.end());
  if (empty) {
    for (Division& division : begun) std::ranges::fill(division.there, 0);
  }
  std::optional<std::vector<int>> best;
  for (std::size_t c = 0; c < combinations; ++c) {
    std::vector<const Bounds*> bounds;
    std::size_t rest = c;
    for (const std::vector<Bounds>& some : alternatives) {
      bounds.push_back(&some[rest % some.size()]);
      rest /= some.size();
    }
    const auto limit = [&](std::size_t set) {
      const auto [division, domain] = names[set];
      return Nested::Limit{bounds[division]->least[domain], bounds[division]->most[domain]};
    };
    // If no node of `rooms` is in a domain, the domain gets no pod.
    const bool reachable = std::ranges::all_of(bounds, [](const Bounds* one) {
      return std::ranges::equal(one->least, one->most, std::less_equal<>());
    });
    if (!reachable) continue;
    auto chosen = nested->Choose(limit, pods);
    if (!chosen || (best && NodesOf(*chosen) >= NodesOf(*best))) continue;
    if (HasOrder(begun, rooms, *chosen)) best = std::move(chosen);
  }
  return best;
}

bool Permits(std::span<const Division> divisions, std::span<const Room> chosen) {
  std::vector<int> nodes;
  for (const Room& room : chosen) nodes.insert(nodes.end(), Index(room.pods), room.node);
  for (const Division& division : divisions) {
    std::map<int, int> by_domain;
    for (const Room& room : chosen) {
      if (const int domain = DomainOf(division, room.node); domain >= 0) by_domain[domain] += room.pods;
    }
    int most = 0;
    for (const auto& [domain, pods] : by_domain) most = std::max(most, pods);
    if (division.most > 0 && most > division.most) return false;
    if (division.together && most < static_cast<int>(nodes.size())) return false;
  }
  return WavesOf(divisions, nodes).has_value();
}

std::optional<std::vector<int>> WavesOf(std::span<const Division> divisions, std::span<const int> nodes) {
  std::vector<Count> counts;
  for (const Division& division : divisions) {
    if (division.skew > 0) counts.emplace_back(division);
  }
  std::vector<int> waves(nodes.size(), -1);
  std::size_t left = nodes.size();
  for (int wave = 0; left > 0; ++wave) {
    const std::size_t before = left;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const int node = nodes[i];
      if (waves[i] >= 0 || !std::ranges::all_of(counts, [node](const Count& one) { return one.Takes(node); }))
        continue;
      for (Count& count : counts) count.Add(node);
      waves[i] = wave;
      --left;
    }
    if (left == before) return std::nullopt;
    for (Count& count : counts) count.Begin();
  }
  return waves;
}

}  // namespace crossover::placement

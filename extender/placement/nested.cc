#include "extender/placement/nested.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace crossover::placement {

std::optional<Nested> Nested::Of(std::vector<int> takes, const std::vector<std::vector<int>>& sets) {
  Nested nested;
  nested.takes_ = std::move(takes);
  const std::size_t items = nested.takes_.size();
  nested.parts_.resize(items);
  std::vector<std::size_t> top(items);  // by item: the largest part so far that it is in
  std::iota(top.begin(), top.end(), 0);
  std::vector<std::size_t> size(items, 1);  // by part: its items
  std::vector<std::size_t> order(sets.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t set) { return sets[set].size(); });
  for (const std::size_t set : order) {
    std::set<std::size_t> within;
    for (const int item : sets[set]) within.insert(top[static_cast<std::size_t>(item)]);
    std::size_t count = 0;
    for (const std::size_t part : within) count += size[part];
    if (count != sets[set].size()) return std::nullopt;
    for (const int item : sets[set]) top[static_cast<std::size_t>(item)] = nested.parts_.size();
    nested.parts_.push_back({{within.begin(), within.end()}, set});
    size.push_back(count);
  }
  const std::set<std::size_t> rest(top.begin(), top.end());
  nested.parts_.push_back({.parts = {rest.begin(), rest.end()}});
  return nested;
}

std::optional<std::vector<int>> Nested::Choose(const std::function<Limit(std::size_t set)>& limit,
                                               int units) const {
  std::vector<Limit> limits;
  for (std::size_t p = 0; p < parts_.size(); ++p) {
    if (p < takes_.size()) {
      limits.push_back({0, takes_[p]});
      continue;
    }
    Limit sum;
    for (const std::size_t within : parts_[p].parts) {
      sum.least += limits[within].least;
      sum.most += limits[within].most;
    }
    if (parts_[p].set) {
      const Limit own = limit(*parts_[p].set);
      sum = {std::max(sum.least, own.least), std::min(sum.most, own.most)};
    }
    if (sum.least > sum.most) return std::nullopt;
    limits.push_back(sum);
  }
  if (units < limits.back().least || units > limits.back().most) return std::nullopt;
  std::vector<int> gets(parts_.size());
  gets.back() = units;
  for (std::size_t p = parts_.size(); p-- > takes_.size();) Distribute(parts_[p], limits, gets[p], &gets);
  gets.resize(takes_.size());
  return gets;
}

// Gives each part within `part` its least, and what is left of `units` to the largest ones, and the end to
// the smallest that suffices.
void Nested::Distribute(const Part& part, const std::vector<Limit>& limits, int units,
                        std::vector<int>* gets) const {
  const auto room = [&](std::size_t p) { return limits[p].most - (*gets)[p]; };
  for (const std::size_t within : part.parts) {
    (*gets)[within] = limits[within].least;
    units -= limits[within].least;
  }
  std::vector<std::size_t> order = part.parts;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return room(a) > room(b); });
  while (units > 0) {
    auto next = order.begin();
    while (next + 1 != order.end() && room(*(next + 1)) >= units) ++next;
    while (next != order.begin() && room(*(next - 1)) == room(*next)) --next;
    const int more = std::min(units, room(*next));
    (*gets)[*next] += more;
    units -= more;
    order.erase(next);
  }
}

}  // namespace crossover::placement

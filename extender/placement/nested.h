// Chooses how many units each item gets, if nested sets of items have limits: nodes that take pods, in racks
// and zones. Pure.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace crossover::placement {

// A Nested knows the sets. Of any two sets either one has all items of the other, or they have none in
// common.
//
//   the whole            all items
//   sets of items        zone a             zone b
//   sets within these    rack 1  rack 2     rack 3
//   items                n0 n1   n2         n3 n4
class Nested {
 public:
  struct Limit {
    int least = 0, most = 0;
  };

  // Returns nothing if two sets overlap. `takes` holds the most units of each item. A set lists indices of
  // items, each once, and at least one.
  static std::optional<Nested> Of(std::vector<int> takes, const std::vector<std::vector<int>>& sets);

  // Returns how many units each item gets, `units` in all, so that the limit of each set holds. Prefers few
  // items. Returns nothing if there is no such choice. `limit` is asked about each set by its index.
  std::optional<std::vector<int>> Choose(const std::function<Limit(std::size_t set)>& limit, int units) const;

 private:
  // A Part is an item or a set. The items come first; parts come before those that they are in.
  struct Part {
    std::vector<std::size_t> parts;    // within it
    std::optional<std::size_t> set{};  // its index, if it is a set
  };
  void Distribute(const Part& part, const std::vector<Limit>& limits, int units,
                  std::vector<int>* gets) const;

  std::vector<int> takes_;
  std::vector<Part> parts_;  // the last one is the whole
};

}  // namespace crossover::placement

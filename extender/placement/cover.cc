#include "extender/placement/cover.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace crossover::placement {
namespace {

using Price = std::pair<int, double>;  // gangs, cost

constexpr Price kNever{std::numeric_limits<int>::max(), 0};

// A Way says how a gain was reached: by an option of a class, on top of a gain of the classes before.
struct Way {
  int option = -1;
  std::size_t before = 0;
};

// A Table holds the price of each gain from 0 to `wanted`, which stands for that or more.
class Table {
 public:
  explicit Table(std::size_t wanted) : best_(wanted + 1, kNever) { best_[0] = {0, 0}; }

  bool reached() const { return best_.back() != kNever; }

  // Adds a class, and returns by which way each gain is reached now.
  std::vector<Way> Add(const std::vector<Option>& options) {
    std::vector<Price> next = best_;
    std::vector<Way> ways(best_.size());
    for (std::size_t gain = 0; gain < best_.size(); ++gain) ways[gain].before = gain;
    for (std::size_t o = 0; o < options.size(); ++o) {
      for (std::size_t before = 0; before + 1 < best_.size(); ++before) {
        if (best_[before] == kNever) continue;
        const auto gain = static_cast<std::size_t>(options[o].gain);
        const std::size_t after = std::min(best_.size() - 1, before + gain);
        const Price price{best_[before].first + options[o].gangs, best_[before].second + options[o].cost};
        if (price >= next[after]) continue;
        next[after] = price;
        ways[after] = {static_cast<int>(o), before};
      }
    }
    best_ = std::move(next);
    return ways;
  }

 private:
  std::vector<Price> best_;
};

}  // namespace

std::optional<std::vector<int>> CheapestCover(std::span<const std::vector<Option>> classes, int need) {
  const std::size_t wanted = static_cast<std::size_t>(std::max(0, need));
  Table table(wanted);
  std::vector<std::vector<Way>> ways;
  for (const std::vector<Option>& options : classes) ways.push_back(table.Add(options));
  if (!table.reached()) return std::nullopt;
  std::vector<int> chosen(classes.size(), -1);
  std::size_t gain = wanted;
  for (std::size_t c = classes.size(); c-- > 0;) {
    const Way& way = ways[c][gain];
    chosen[c] = way.option;
    gain = way.before;
  }
  return chosen;
}

}  // namespace crossover::placement

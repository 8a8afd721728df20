// Keeps what pairs of jobs gained when they met before. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "extender/placement/model.h"

namespace crossover::placement {

// A History finds the gain of a pair by the keys of the two profiles. Of two observations of one pair, the
// later one in the list counts. It refers to the strings of the observations, which must outlive it.
class History {
 public:
  // REQUIRES: `observed` outlives this object.
  explicit History(std::span<const Observed> observed) {
    for (const Observed& o : observed) gain_[std::minmax<std::string_view>(o.key, o.other)] = o.gain;
  }
  bool empty() const { return gain_.empty(); }
  // Returns the gain of the two gangs, or 0 if they never met or a key is not known.
  double GainOf(const Gang& gang, const Gang& other) const {
    if (gain_.empty() || gang.key.empty() || other.key.empty()) return 0;
    const auto found = gain_.find(std::minmax<std::string_view>(gang.key, other.key));
    return found == gain_.end() ? 0 : found->second;
  }

 private:
  std::map<std::pair<std::string_view, std::string_view>, double> gain_;
};

}  // namespace crossover::placement

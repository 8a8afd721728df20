#include "extender/profiles/observed.h"

#include <algorithm>
#include <map>
#include <utility>

namespace crossover::extender {

std::string PlacementKeyOf(const std::string& name_space, const std::string& key) {
  return key.empty() ? "" : name_space + "/" + key;
}

std::vector<placement::Observed> ObservedOf(std::span<const JobProfile* const> profiles) {
  std::map<std::pair<std::string, std::string>, std::pair<double, int>> sums;
  for (const JobProfile* profile : profiles) {
    const std::string key = PlacementKeyOf(profile->name_space, profile->key);
    for (const JobProfile::Meeting& meeting : profile->meetings) {
      const std::string other = PlacementKeyOf(meeting.name_space, meeting.key);
      if (key.empty() || other.empty() || meeting.gain <= 0) continue;
      auto& [sum, count] = sums[{std::min(key, other), std::max(key, other)}];
      sum += meeting.gain;
      ++count;
    }
  }
  std::vector<placement::Observed> observed;
  for (const auto& [pair, sum] : sums) observed.push_back({pair.first, pair.second, sum.first / sum.second});
  return observed;
}

}  // namespace crossover::extender

#include "extender/placement/consent.h"

#include <algorithm>

namespace crossover::placement {

bool MayMeet(const Gang& gang, const Gang& other, const Settings& settings) {
  if (gang.space == other.space) return true;
  if (gang.consent != Consent::kCluster || other.consent != Consent::kCluster) return false;
  if (settings.namespace_groups.empty()) return true;
  return std::ranges::any_of(settings.namespace_groups, [&](const std::vector<std::string>& group) {
    return std::ranges::count(group, gang.space) > 0 && std::ranges::count(group, other.space) > 0;
  });
}

}  // namespace crossover::placement

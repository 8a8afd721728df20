#include "deviceplugin/mps/farewell.h"

namespace crossover::deviceplugin {

std::vector<Pod> Farewell::Due(const std::vector<Pod>& pods, Time now) {
  constexpr Time kSecond = 1'000'000'000;
  std::vector<Pod> due;
  std::map<std::string, Leaving> leaving;
  for (const Pod& pod : pods) {
    if (!pod.grace_s || pod.over) continue;
    const auto known = leaving_.find(pod.uid);
    Leaving& entry = leaving[pod.uid];
    entry = known == leaving_.end() ? Leaving{now + *pod.grace_s * kSecond, false} : known->second;
    if (entry.told || now < entry.end - kBefore) continue;
    entry.told = true;
    due.push_back(pod);
  }
  leaving_ = std::move(leaving);
  return due;
}

}  // namespace crossover::deviceplugin

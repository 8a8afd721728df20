#include "deviceplugin/mps/client_drain.h"

#include <algorithm>
#include <utility>

namespace crossover::deviceplugin {

std::vector<Pod> ClientDrain::Due(const std::vector<Pod>& pods, Time now) {
  constexpr Time kSecond = 1'000'000'000;
  std::vector<Pod> due;
  std::map<std::string, Time> ends;
  for (const Pod& pod : pods) {
    if (!pod.grace_s || pod.over) continue;
    const Time said = now + *pod.grace_s * kSecond;
    const auto known = ends_.find(pod.uid);
    // The grace period may be shortened while it runs. It never becomes longer than it was at its start.
    const Time end = known == ends_.end() ? said : std::min(known->second, said);
    ends.emplace(pod.uid, end);
    if (now >= end - kBefore) due.push_back(pod);
  }
  ends_ = std::move(ends);
  return due;
}

}  // namespace crossover::deviceplugin

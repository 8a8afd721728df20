// When clients of MPS are to be ended through it: shortly before their pod is killed. A client that is killed
// in the midst of its kernels may take its neighbours along. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

class Farewell {
 public:
  using Time = std::int64_t;
  static constexpr Time kBefore = 2'000'000'000;  // the kubelet's kill

  // Pods whose clients are to be ended now, until they are gone. `now`: ns of any clock.
  std::vector<Pod> Due(const std::vector<Pod>& pods, Time now);

 private:
  std::map<std::string, Time> ends_;  // of their grace, by UID
};

}  // namespace crossover::deviceplugin

// Decides when to terminate clients of MPS through MPS: shortly before the kubelet kills their pod. A client
// that is killed while its kernels run may make other clients fail, too. Pure; not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

class ClientDrain {
 public:
  using Time = std::int64_t;
  static constexpr Time kBefore = 2'000'000'000;  // ns before the kubelet kills the pod

  // Returns the pods whose clients must be terminated now. A pod is returned at each call until it is gone.
  // `now` is in ns of any clock.
  std::vector<Pod> Due(const std::vector<Pod>& pods, Time now);

 private:
  std::map<std::string, Time> ends_;  // end of the grace period, by UID of the pod
};

}  // namespace crossover::deviceplugin

// Has pods made anew elsewhere: by eviction, which heeds budgets for disruptions and is no failure of the
// pod's. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "common/kube/client.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

class Evictor {
 public:
  explicit Evictor(kube::Access access) : client_(std::move(access)) {}

  // Waits for the API server's answer, says what it is in the log, and returns whether it accepts. Nobody
  // else of that name is evicted.
  bool Evict(const Pod& pod);

  // Evictions that the API server has accepted, and those that it has not: refused, or not answered.
  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t refused() const { return refused_; }

  // Ends one that is under way, and all later ones.
  void Stop() { client_.Stop(); }

 private:
  kube::Client client_;
  std::atomic<std::uint64_t> accepted_{0}, refused_{0};
};

}  // namespace crossover::deviceplugin

// Evicts pods, so that their controllers create them again on another node or GPU. Eviction respects
// PodDisruptionBudgets, and is no failure of the pod. Thread-safe.
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

  // Asks the API server to evict the pod, waits for the answer, and logs it. Returns whether the API server
  // accepts. The request has the UID of the pod, so another pod with the same name is never evicted.
  bool Evict(const Pod& pod);

  // accepted() returns how many evictions the API server accepted, and refused() how many failed, because the
  // API server refused them or did not answer.
  std::uint64_t accepted() const { return accepted_; }
  std::uint64_t refused() const { return refused_; }

  // Aborts the current eviction and all later ones.
  void Stop() { client_.Stop(); }

 private:
  kube::Client client_;
  std::atomic<std::uint64_t> accepted_{0}, refused_{0};
};

}  // namespace crossover::deviceplugin

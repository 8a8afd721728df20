// The pods of this node, as the API server has them. Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/kube/list_watch.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

class PodTable : public kube::ListWatch::Handler {
 public:
  // `on_change`, if any, is called after each change of a pod, on the thread of the watch.
  explicit PodTable(std::function<void()> on_change = {}) : on_change_(std::move(on_change)) {}

  void OnList(const nlohmann::json& items) override;
  void OnChange(const nlohmann::json& object) override;
  void OnDelete(const nlohmann::json& object) override;

  std::optional<Pod> Find(const std::string& uid) const;
  std::vector<Pod> All() const;

  // The GPUs that the container which a kubelet admits now is to have, which the kubelet does not say: those
  // of the first container, in the order in which kubelets admit, that asks for so many slots, was assigned
  // GPUs and has none yet. Empty where there is none. `done`: pod UIDs and containers that have theirs.
  using Done = std::set<std::pair<std::string, std::string>>;
  // `done`, and what was among it before, of pods that are still known: a kubelet forgets what a pod had when
  // it ends, before the API server hears of that.
  Done EverDone(const Done& done);
  std::vector<std::string> AssignedTo(std::size_t slots, const Done& done) const;
  // Waits until a pod is known that asks for so many slots and has none yet, for at most `patience`: a
  // kubelet may hear of a pod before we do.
  void AwaitOne(std::size_t slots, const Done& done, std::chrono::milliseconds patience) const;

 private:
  void Put(Pod pod);
  void TellOfChange() const;
  bool Expects(std::size_t slots, const Done& done) const;

  const std::function<void()> on_change_;
  mutable std::mutex mutex_;
  mutable std::condition_variable came_;
  std::map<std::string, Pod> pods_;  // by UID
  Done had_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace crossover::deviceplugin

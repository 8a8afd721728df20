// Keeps the pods of this node, as the API server last reported them. Thread-safe.
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
  // Calls `on_change`, if it is set, after each change of a pod, on the thread of the watch.
  explicit PodTable(std::function<void()> on_change = {}) : on_change_(std::move(on_change)) {}

  void OnList(const nlohmann::json& items) override;
  void OnChange(const nlohmann::json& object) override;
  void OnDelete(const nlohmann::json& object) override;

  std::optional<Pod> Find(const std::string& uid) const;
  std::vector<Pod> All() const;

  // Holds the UID of the pod and the name of the container, for containers that have their slots.
  using Done = std::set<std::pair<std::string, std::string>>;
  // Adds `done` to what earlier calls passed and returns all of it. Forgets entries of earlier calls whose
  // pods are no longer known. This is needed because the kubelet forgets what a pod had when the pod ends,
  // before the API server learns of the end.
  Done EverDone(const Done& done);
  // Returns the GPUs for the container that the kubelet admits now. The kubelet does not say which
  // container that is. It is the first one, in the order in which the kubelet admits, that asks for `slots`
  // slots, was assigned GPUs and is not in `done`. Returns an empty list if there is none.
  std::vector<std::string> AssignedTo(std::size_t slots, const Done& done) const;
  // Blocks until a pod is known with a container that asks for `slots` slots and is not in `done`, for at
  // most `patience`. The kubelet may learn of a pod before we do.
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

// Keeps a node's GPUNode up to date. It publishes within half a second if the urgent part changes
// (UrgentPartOf), and other changes at most every half minute. Runs on a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/kube/client.h"
#include "common/threads/periodic_task.h"
#include "deviceplugin/status/gpu_node.h"

namespace crossover::deviceplugin {

class Publisher {
 public:
  // Calls both functions on the publisher's thread. `look` returns the node to publish, or nullopt if not
  // everything is known now. `on_published` is called when the last result of `look` is published.
  Publisher(kube::Access access, std::function<std::optional<GpuNode>()> look,
            std::function<void()> on_published = {});
  // Stops without publishing what is not published yet.
  ~Publisher() { client_.Stop(); }

  // Returns how many tries to publish failed.
  std::uint64_t failures() const { return failures_; }

 private:
  void Round();
  bool Publish(const GpuNode& node, const std::string& body);

  kube::Client client_;
  const std::function<std::optional<GpuNode>()> look_;
  const std::function<void()> on_published_;
  std::atomic<std::uint64_t> failures_{0};
  // The members below are used only by the publisher's thread.
  std::string published_, urgent_;
  std::chrono::steady_clock::time_point when_;
  std::chrono::steady_clock::time_point again_;
  std::chrono::seconds retry_after_{0};  // how long the API server asks to wait
  std::string complaint_;
  threads::PeriodicTask task_;  // must be the last member: its thread uses the others
};

}  // namespace crossover::deviceplugin

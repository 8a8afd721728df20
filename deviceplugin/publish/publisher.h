// Keeps a node's GPUNode up to date: at once when what can be given out changes, else every half minute at
// most. On a thread of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/kube/client.h"
#include "common/threads/rounds.h"
#include "deviceplugin/publish/gpu_node.h"

namespace crossover::deviceplugin {

class Publisher {
 public:
  // Both are called on the publisher's thread. `look`: nothing where not all is known now. `on_published`:
  // what `look` said last is published.
  Publisher(kube::Access access, std::function<std::optional<GpuNode>()> look,
            std::function<void()> on_published = {});
  // What has not been published by then is not.
  ~Publisher() { client_.Stop(); }

  std::uint64_t failures() const { return failures_; }

 private:
  void Round();
  bool Publish(const GpuNode& node, const std::string& body);

  kube::Client client_;
  const std::function<std::optional<GpuNode>()> look_;
  const std::function<void()> on_published_;
  std::atomic<std::uint64_t> failures_{0};
  // Of the thread alone.
  std::string published_, urgent_;
  std::chrono::steady_clock::time_point when_;
  std::chrono::steady_clock::time_point again_;
  std::chrono::seconds retry_after_{0};  // so long the server wants to be left alone
  std::string complaint_;
  threads::Rounds rounds_;  // last: it uses the others
};

}  // namespace crossover::deviceplugin

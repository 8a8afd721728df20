// Tells of the cluster's objects that the extender goes by, as they come, change and go: nodes, their GPUs,
// our pods, profiles of jobs. A watch each, on a thread each.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/kube/access.h"
#include "common/kube/list_watch.h"
#include "extender/cluster/model.h"

namespace crossover::extender {

// Each is called on the thread of its watch: at the same time as others, never as itself. What is told may be
// what was told before. Whatever goes was told of.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void OnPod(Pod pod) = 0;
  virtual void OnPodGone(const std::string& uid) = 0;
  virtual void OnNode(Node node) = 0;
  virtual void OnNodeGone(const std::string& name) = 0;
  virtual void OnGpuNode(GpuNode node) = 0;
  virtual void OnGpuNodeGone(const std::string& name) = 0;
  virtual void OnProfile(JobProfile profile) = 0;
  virtual void OnProfileGone(const std::string& name_space, const std::string& name) = 0;
};

class Feed {
 public:
  // `listener` outlives it. `least_pause`: between tries.
  Feed(const kube::Access& access, Listener* listener,
       std::chrono::milliseconds least_pause = kube::ListWatch::Options{}.least_pause);
  ~Feed();

  // All that is there was told, and is kept up with: nobody should decide anything otherwise. A cluster that
  // does not know GPUNodes or JobProfiles has none.
  bool synced() const;

 private:
  // Sinks outlive their watches.
  std::vector<std::unique_ptr<kube::ListWatch::Sink>> sinks_;
  std::vector<std::unique_ptr<kube::ListWatch>> watches_;
};

}  // namespace crossover::extender

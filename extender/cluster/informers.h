// Watches the objects of the API server that the extender decides by, and reports each change to a
// listener. The objects are Nodes, GPUNodes, JobProfiles, PodDisruptionBudgets, and the pods with the
// label crossover.dev/managed=true. Each kind has its own watch on its own thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/kube/access.h"
#include "common/kube/list_watch.h"
#include "extender/cluster/model.h"

namespace crossover::extender {

// A Listener receives the changes. Each method runs on the thread of the watch of its kind: methods of two
// kinds may run at the same time, two methods of one kind never do. An object may be passed again
// unchanged. Informers calls On..Gone() only for an object that it has passed before.
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
  virtual void OnBudget(Budget budget) = 0;
  virtual void OnBudgetGone(const std::string& name_space, const std::string& name) = 0;
};

// Informers runs the five watches from its constructor to its destructor.
class Informers {
 public:
  // Starts the watches. REQUIRES: `listener` outlives this object. `least_pause` is the shortest pause
  // between two attempts of a watch.
  Informers(const kube::Access& access, Listener* listener,
            std::chrono::milliseconds least_pause = kube::ListWatch::Options{}.least_pause);
  ~Informers();

  // Returns true while every watch has passed on its list and its last request was answered
  // (ListWatch::synced). The extender must not decide anything before that. A cluster that does not know
  // GPUNodes or JobProfiles counts as one that has none.
  bool synced() const;

 private:
  // The sinks are declared first, because they must outlive their watches.
  std::vector<std::unique_ptr<kube::ListWatch::Sink>> sinks_;
  std::vector<std::unique_ptr<kube::ListWatch>> watches_;
};

}  // namespace crossover::extender

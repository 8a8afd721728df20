// Everything that the extender knows of the cluster now. Pure: it is told of changes, by whoever watches, and
// asked; one thread at a time.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "extender/cluster/model.h"

namespace crossover::extender {

class World {
 public:
  // New, or another than before; whether that changed anything that is kept, a pod's version aside.
  bool Put(Pod pod);
  bool Put(Node node);
  bool Put(GpuNode node);
  bool Put(JobProfile profile);
  // Whether it was known.
  bool RemovePod(const std::string& uid);
  bool RemoveNode(const std::string& name);
  bool RemoveGpuNode(const std::string& name);
  bool RemoveProfile(const std::string& name_space, const std::string& name);

  const Pod* FindPod(const std::string& uid) const;
  const Node* FindNode(const std::string& name) const;
  const GpuNode* FindGpuNode(const std::string& name) const;
  const JobProfile* FindProfile(const std::string& name_space, const std::string& key) const;
  const std::unordered_map<std::string, Pod>& pods() const { return pods_; }  // by UID
  const std::map<std::string, Node>& nodes() const { return nodes_; }
  const std::map<std::string, GpuNode>& gpu_nodes() const { return gpu_nodes_; }
  const std::map<std::string, JobProfile>& profiles() const { return profiles_; }  // by namespace/name

  // What our pods that are bound to a node and not over ask of it, all together; "pods" says how many they
  // are. The answer is good until something is told.
  const Resources& UsedOn(const std::string& node) const;

 private:
  // Of a node that need not be known.
  struct OnNode {
    std::set<std::string> pods;  // UIDs
    Resources used;
  };

  void Arrive(const Pod& pod);
  void Leave(const Pod& pod);

  std::unordered_map<std::string, Pod> pods_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, GpuNode> gpu_nodes_;
  std::map<std::string, JobProfile> profiles_;
  std::unordered_map<std::string, OnNode> on_nodes_;
  // Names of the profiles with one key in one namespace.
  std::map<std::pair<std::string, std::string>, std::set<std::string>> by_key_;
};

}  // namespace crossover::extender

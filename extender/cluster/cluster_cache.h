// Keeps everything that the extender knows of the cluster now. Pure: the caller passes each change in. Not
// thread-safe: the caller lets one thread at a time use it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "extender/cluster/model.h"

namespace crossover::extender {

class ClusterCache {
 public:
  // Adds an object, or replaces the one with the same identity. Returns whether that changed any field; a
  // pod's version does not count, and of a node and a GPUNode only what the extender decides by is kept.
  bool Put(Pod pod);
  bool Put(Node node);
  bool Put(GpuNode node);
  // Adds or replaces a profile without its history, without meetings that have nothing else, and
  // without communication in which too few runs agree (kRunsThatAgree). Returns whether any field changed.
  bool Put(JobProfile profile);
  bool Put(Budget budget);
  // Removes an object. Returns whether it was known.
  bool RemovePod(const std::string& uid);
  bool RemoveNode(const std::string& name);
  bool RemoveGpuNode(const std::string& name);
  bool RemoveProfile(const std::string& name_space, const std::string& name);
  bool RemoveBudget(const std::string& name_space, const std::string& name);

  // Returns the object, or null if it is not known. The pointer is valid until the next Put() or Remove..().
  const Pod* FindPod(const std::string& uid) const;
  const Node* FindNode(const std::string& name) const;
  const GpuNode* FindGpuNode(const std::string& name) const;
  // If several profiles have the key, returns one that a user wrote figures into, else the first by name.
  const JobProfile* FindProfile(const std::string& name_space, const std::string& key) const;
  // Returns the profile of the pod's job. As long as no run with its level of compressed reductions was
  // measured, that is the profile of runs without one.
  const JobProfile* FindProfileOf(const Pod& pod) const;
  const std::unordered_map<std::string, Pod>& pods() const { return pods_; }  // by UID
  const std::map<std::string, Node>& nodes() const { return nodes_; }
  const std::map<std::string, GpuNode>& gpu_nodes() const { return gpu_nodes_; }
  const std::map<std::string, JobProfile>& profiles() const { return profiles_; }  // by namespace/name
  const std::map<std::string, Budget>& budgets() const { return budgets_; }        // by namespace/name

  // Returns the sum of what our pods that are bound to `node` and not over ask for; its resource "pods" is
  // their number. The reference is valid until the next Put() or Remove..().
  const Resources& UsedOn(const std::string& node) const;
  // Returns gains::UsualLink() of the links of all GPUNodes, in bytes per second.
  double UsualLink() const;

 private:
  // Holds the pods that are bound to one node. The node itself need not be known.
  struct OnNode {
    std::set<std::string> pods;  // UIDs
    Resources used;
  };

  void Arrive(const Pod& pod);
  void Leave(const Pod& pod);
  void NoteLink(const std::string& node, double link_bytes_per_s);

  std::unordered_map<std::string, Pod> pods_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, GpuNode> gpu_nodes_;
  // Caches UsualLink(), because the request of every gang asks for it. It is empty before the first call, and
  // after the speed of a link has changed.
  mutable std::optional<double> usual_link_;
  std::map<std::string, JobProfile> profiles_;
  std::map<std::string, Budget> budgets_;
  std::unordered_map<std::string, OnNode> on_nodes_;
  // by_key_ holds the names of the profiles, by namespace and key.
  std::map<std::pair<std::string, std::string>, std::set<std::string>> by_key_;
};

}  // namespace crossover::extender

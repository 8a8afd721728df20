// World for a tree that has none built: the plainest that keeps what it is told.
#include "extender/cluster/world.h"

#include <utility>

namespace crossover::extender {

bool World::Put(Pod pod) {
  const std::string uid = pod.uid;
  pods_.insert_or_assign(uid, std::move(pod));
  return true;
}
bool World::Put(Node node) {
  const std::string name = node.name;
  nodes_.insert_or_assign(name, std::move(node));
  return true;
}
bool World::Put(GpuNode node) {
  const std::string name = node.name;
  gpu_nodes_.insert_or_assign(name, std::move(node));
  return true;
}
bool World::Put(JobProfile profile) {
  const std::string name = profile.name_space + "/" + profile.name;
  profiles_.insert_or_assign(name, std::move(profile));
  return true;
}
bool World::RemovePod(const std::string& uid) { return pods_.erase(uid) > 0; }
bool World::RemoveNode(const std::string& name) { return nodes_.erase(name) > 0; }
bool World::RemoveGpuNode(const std::string& name) { return gpu_nodes_.erase(name) > 0; }
bool World::RemoveProfile(const std::string& name_space, const std::string& name) {
  return profiles_.erase(name_space + "/" + name) > 0;
}

const Pod* World::FindPod(const std::string& uid) const {
  const auto found = pods_.find(uid);
  return found == pods_.end() ? nullptr : &found->second;
}
const Node* World::FindNode(const std::string& name) const {
  const auto found = nodes_.find(name);
  return found == nodes_.end() ? nullptr : &found->second;
}
const GpuNode* World::FindGpuNode(const std::string& name) const {
  const auto found = gpu_nodes_.find(name);
  return found == gpu_nodes_.end() ? nullptr : &found->second;
}
const JobProfile* World::FindProfile(const std::string& name_space, const std::string& key) const {
  for (const auto& [name, profile] : profiles_) {
    if (profile.name_space == name_space && profile.key == key) return &profile;
  }
  return nullptr;
}

}  // namespace crossover::extender

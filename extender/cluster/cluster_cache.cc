#include "extender/cluster/cluster_cache.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/gains/turns.h"
#include "common/kube/profile_key.h"
#include "extender/cluster/resources.h"

namespace crossover::extender {
namespace {

template <class Map, class Object>
bool PutInto(Map* map, const std::string& key, Object object) {
  const auto [entry, is_new] = map->try_emplace(key, std::move(object));
  if (is_new) return true;
  if (entry->second == object) return false;
  entry->second = std::move(object);
  return true;
}

template <class Map>
const typename Map::mapped_type* Find(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

std::string NameOf(const std::string& name_space, const std::string& name) { return name_space + "/" + name; }

// Placement need not know which run was the last one, and by how many it is more sure than enough.
void DropRuns(Communication* communication) {
  if (communication->runs < kRunsThatAgree) *communication = {};
  communication->runs = std::min(communication->runs, kRunsThatAgree);
  communication->gang = {};
  communication->began_s = 0;
}

// The history changes with each report of a node and takes most of the memory of a profile.
void DropHistory(JobProfile* profile) {
  DropRuns(&profile->communication);
  profile->runs = {};  // input_s has what a decision needs of the newest
  std::erase_if(profile->meetings, [](const JobProfile::Meeting& meeting) { return meeting.gain <= 0; });
  for (JobProfile::Meeting& meeting : profile->meetings) meeting.gains = {};
}

void Release(std::string* text) {
  text->clear();
  text->shrink_to_fit();
}

// These fields change with each round of a daemon, and no decision reads them. The fields would take memory,
// and each change would start a decision.
void DropUnread(Node* node) {
  node->annotations.clear();
  Release(&node->runtime);
  Release(&node->os_image);
}

void DropUnread(GpuNode* node) {
  for (std::string* text :
       {&node->node_uid, &node->version, &node->mode_limited_by, &node->configuration, &node->sharing_reason})
    Release(text);
  node->mps_served.reset();
  for (GpuNode::Gpu& gpu : node->gpus) {
    gpu.notes.Reset();
    for (GpuNode::Holder& holder : gpu.holders) Release(&holder.gang);
  }
  for (GpuNode::Job& job : node->jobs) {
    job.gang_size = 0;
    job.source = job.estimated() ? "estimated" : "";
  }
}

}  // namespace

bool ClusterCache::Put(Pod pod) {
  const auto known = pods_.find(pod.uid);
  if (known == pods_.end()) {
    const std::string uid = pod.uid;
    Arrive(pods_.emplace(uid, std::move(pod)).first->second);
    return true;
  }
  Pod& there = known->second;
  there.version = pod.version;
  if (there == pod) return false;
  Leave(there);
  there = std::move(pod);
  Arrive(there);
  return true;
}

bool ClusterCache::Put(Node node) {
  DropUnread(&node);
  const std::string name = node.name;
  return PutInto(&nodes_, name, std::move(node));
}

bool ClusterCache::Put(GpuNode node) {
  DropUnread(&node);
  const std::string name = node.name;
  NoteLink(name, node.link_bytes_per_s);
  return PutInto(&gpu_nodes_, name, std::move(node));
}

bool ClusterCache::Put(JobProfile profile) {
  DropHistory(&profile);
  const std::string name = NameOf(profile.name_space, profile.name);
  const JobProfile* known = Find(profiles_, name);
  if (known != nullptr && *known == profile) return false;
  if (known != nullptr) RemoveProfile(profile.name_space, profile.name);
  by_key_[{profile.name_space, profile.key}].insert(profile.name);
  profiles_.emplace(name, std::move(profile));
  return true;
}

bool ClusterCache::Put(Budget budget) {
  const std::string name = NameOf(budget.name_space, budget.name);
  return PutInto(&budgets_, name, std::move(budget));
}

bool ClusterCache::RemovePod(const std::string& uid) {
  const auto known = pods_.find(uid);
  if (known == pods_.end()) return false;
  Leave(known->second);
  pods_.erase(known);
  return true;
}

bool ClusterCache::RemoveNode(const std::string& name) { return nodes_.erase(name) > 0; }

bool ClusterCache::RemoveGpuNode(const std::string& name) {
  NoteLink(name, 0);
  return gpu_nodes_.erase(name) > 0;
}

// Nodes publish all the time, and their speeds stay.
void ClusterCache::NoteLink(const std::string& node, double link_bytes_per_s) {
  const GpuNode* known = FindGpuNode(node);
  if ((known == nullptr ? 0 : known->link_bytes_per_s) != link_bytes_per_s) usual_link_.reset();
}

double ClusterCache::UsualLink() const {
  if (!usual_link_) {
    std::vector<double> links;
    for (const auto& [name, node] : gpu_nodes_) {
      if (node.link_bytes_per_s > 0) links.push_back(node.link_bytes_per_s);
    }
    usual_link_ = gains::UsualLink(std::move(links));
  }
  return *usual_link_;
}

bool ClusterCache::RemoveProfile(const std::string& name_space, const std::string& name) {
  const auto known = profiles_.find(NameOf(name_space, name));
  if (known == profiles_.end()) return false;
  const auto names = by_key_.find({name_space, known->second.key});
  names->second.erase(name);
  if (names->second.empty()) by_key_.erase(names);
  profiles_.erase(known);
  return true;
}

bool ClusterCache::RemoveBudget(const std::string& name_space, const std::string& name) {
  return budgets_.erase(NameOf(name_space, name)) > 0;
}

const Pod* ClusterCache::FindPod(const std::string& uid) const { return Find(pods_, uid); }

const Node* ClusterCache::FindNode(const std::string& name) const { return Find(nodes_, name); }

const GpuNode* ClusterCache::FindGpuNode(const std::string& name) const { return Find(gpu_nodes_, name); }

// Takes the first name in alphabetical order if there are several, so that all replicas of the extender
// choose the same profile.
const JobProfile* ClusterCache::FindProfile(const std::string& name_space, const std::string& key) const {
  const auto names = by_key_.find({name_space, key});
  if (names == by_key_.end()) return nullptr;
  const auto find = [&](const std::string& name) { return Find(profiles_, NameOf(name_space, name)); };
  const auto hinted =
      std::ranges::find_if(names->second, [&](const std::string& name) { return find(name)->has_hints; });
  return find(hinted != names->second.end() ? *hinted : *names->second.begin());
}

const JobProfile* ClusterCache::FindProfileOf(const Pod& pod) const {
  const JobProfile* found = FindProfile(pod.name_space, pod.profile_key);
  if (found != nullptr) return found;
  const std::string plain = kube::WithoutLevel(pod.profile_key);
  return plain == pod.profile_key ? nullptr : FindProfile(pod.name_space, plain);
}

const Resources& ClusterCache::UsedOn(const std::string& node) const {
  static const Resources nothing;
  const auto found = on_nodes_.find(node);
  return found == on_nodes_.end() ? nothing : found->second.used;
}

void ClusterCache::Arrive(const Pod& pod) {
  if (pod.node.empty() || pod.over) return;
  OnNode& there = on_nodes_[pod.node];
  there.pods.insert(pod.uid);
  AddPod(pod, &there.used);
}

// Adds up the remaining pods again. Subtracting would be wrong if a sum had stopped at the largest value.
void ClusterCache::Leave(const Pod& pod) {
  const auto found = on_nodes_.find(pod.node);
  if (found == on_nodes_.end() || found->second.pods.erase(pod.uid) == 0) return;
  if (found->second.pods.empty()) {
    on_nodes_.erase(found);
    return;
  }
  found->second.used = {};
  for (const std::string& uid : found->second.pods) AddPod(pods_.at(uid), &found->second.used);
}

}  // namespace crossover::extender

#include "deviceplugin/pods/pod.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "common/annotations/assignment.h"
#include "common/annotations/domain.h"
#include "common/base/hash.h"
#include "common/base/job_environment.h"
#include "common/base/names.h"
#include "common/kube/profile_key.h"
#include "deviceplugin/switches/modes.h"

namespace crossover::deviceplugin {
namespace {

// Returns the entries whose keys are in our domain.
Annotations OursAmong(const api::Labels& all) {
  Annotations ours;
  std::ranges::copy_if(all, std::inserter(ours, ours.end()),
                       [](const auto& entry) { return annotations::IsOurs(entry.first); });
  return ours;
}

// Returns the text as it may be shown: at most base::kLongestGang printable ASCII characters.
std::string Printable(std::string text) {
  const std::string whole = text;
  for (char& c : text) {
    if (c <= ' ' || c > '~') c = '?';
  }
  if (text == whole && text.size() <= base::kLongestGang) return text;
  const std::string hash = std::string("-") + base::HexOf(base::Hash(whole)).data();
  return text.substr(0, base::kLongestGang - hash.size()) + hash;
}

}  // namespace

const Pod* FindPod(const std::vector<Pod>& pods, const std::string& uid) {
  const auto found =
      std::find_if(pods.begin(), pods.end(), [&uid](const Pod& pod) { return pod.uid == uid; });
  return found == pods.end() ? nullptr : &*found;
}

const Pod* FindLiving(const std::vector<Pod>& pods, const std::string& uid) {
  const Pod* pod = FindPod(pods, uid);
  return pod == nullptr || pod->over ? nullptr : pod;
}

std::string NameOf(const Pod& pod) { return pod.name_space + "/" + pod.name; }

bool CameBefore(const Pod& a, const Pod& b) {
  return std::tie(a.created_s, a.arrival) < std::tie(b.created_s, b.arrival);
}

const std::string& Pod::Annotation(const char* key) const {
  static const std::string empty;
  const auto found = annotations.find(key);
  return found == annotations.end() ? empty : found->second;
}

Pod PodOf(api::Pod read) {
  Pod pod;
  pod.owner = kube::JobNamedBy(read.labels);
  const auto managed = read.labels.find(base::kManagedLabel);
  pod.managed = managed != read.labels.end() && managed->second == "true";
  pod.annotations = OursAmong(read.annotations);
  pod.switch_faults = FaultsIn(pod.annotations, OursAmong(read.labels));
  pod.uid = std::move(read.uid);
  pod.name_space = std::move(read.name_space);
  pod.name = std::move(read.name);
  pod.created_s = read.created_s;
  pod.over = read.over;
  if (read.deleting) pod.grace_s = read.grace_s;
  for (api::Container& container : read.containers) {
    pod.containers.push_back({std::move(container.name), static_cast<std::size_t>(container.slots),
                              container.shm == api::Shm::kOwn});
  }
  pod.profile_key = std::move(read.profile_key);
  pod.requests = std::move(read.requests);
  pod.controlled = read.owner.has_value();
  if (read.owner) {
    pod.controller = read.owner->kind + "/" + read.owner->name;
    pod.controller_uid = std::move(read.owner->uid);
  }
  return pod;
}

std::string GangOf(const Pod& pod) {
  std::string gang = pod.Annotation(base::kGangAnnotation);
  if (gang.empty()) gang = pod.owner.empty() ? pod.name : pod.owner;
  return Printable(pod.name_space + "/" + gang);
}

std::string RanksOf(const Pod& pod) {
  const bool has_gang = !pod.Annotation(base::kGangAnnotation).empty() || !pod.owner.empty();
  if (has_gang || pod.controller_uid.empty()) return GangOf(pod);
  return Printable(pod.name_space + "/" + pod.controller);
}

std::map<std::string, std::vector<std::string>> AssignmentOf(const Pod& pod) {
  return annotations::ReadAssignment(pod.Annotation(base::kAssignmentAnnotation));
}

}  // namespace crossover::deviceplugin

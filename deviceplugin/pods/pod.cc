#include "deviceplugin/pods/pod.h"

#include <algorithm>
#include <tuple>

#include "common/annotations/assignment.h"
#include "common/base/hash.h"
#include "common/base/job_environment.h"
#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/kube/profile_key.h"
#include "common/kube/shm_mounts.h"
#include "common/kube/slots.h"
#include "deviceplugin/switches/modes.h"

namespace crossover::deviceplugin {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

void AddContainers(const json& containers, Pod* pod) {
  if (!containers.is_array()) return;
  for (const json& container : containers) {
    pod->containers.push_back({Text(At(container, "name")),
                               static_cast<std::size_t>(kube::SlotsOf(container)),
                               kube::HasOwnShm(container)});
  }
}

void ReadController(const json& owners, Pod* pod) {
  if (!owners.is_array()) return;
  for (const json& owner : owners) {
    const json& controls = At(owner, "controller");
    if (!controls.is_boolean() || !controls.get<bool>()) continue;
    pod->controlled = true;
    pod->controller = Text(At(owner, "kind")) + "/" + Text(At(owner, "name"));
    pod->controller_uid = Text(At(owner, "uid"));
    return;
  }
}

// Returns the text as it may be shown: at most base::kLongestGang printable characters.
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
  return std::tie(a.created, a.arrival) < std::tie(b.created, b.arrival);
}

const std::string& Pod::Annotation(const char* key) const {
  static const std::string empty;
  const auto found = annotations.find(key);
  return found == annotations.end() ? empty : found->second;
}

std::optional<Pod> ParsePod(const json& object) {
  const json& metadata = At(object, "metadata");
  Pod pod;
  pod.uid = Text(At(metadata, "uid"));
  pod.name_space = Text(At(metadata, "namespace"));
  pod.name = Text(At(metadata, "name"));
  if (pod.uid.empty() || pod.name_space.empty() || pod.name.empty()) return std::nullopt;
  pod.created = Text(At(metadata, "creationTimestamp"));
  const std::string phase = Text(At(At(object, "status"), "phase"));
  pod.over = phase == "Succeeded" || phase == "Failed";
  const json& grace = At(metadata, "deletionGracePeriodSeconds");
  if (!Text(At(metadata, "deletionTimestamp")).empty())
    pod.grace_s = grace.is_number_integer() ? grace.get<std::int64_t>() : 0;
  pod.annotations = OursOf(object, "annotations");
  pod.switch_faults = FaultsIn(pod.annotations, OursOf(object, "labels"));
  pod.profile_key = kube::ProfileKeyOf(object);
  pod.managed = Text(At(At(metadata, "labels"), base::kManagedLabel)) == "true";
  pod.requests = kube::RequestsOf(object);
  ReadController(At(metadata, "ownerReferences"), &pod);
  pod.owner = kube::JobNamedBy(At(metadata, "labels"));
  AddContainers(At(At(object, "spec"), "initContainers"), &pod);
  AddContainers(At(At(object, "spec"), "containers"), &pod);
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

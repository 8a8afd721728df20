#include "extender/gang/membership.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "common/annotations/domain.h"
#include "common/annotations/rules.h"
#include "common/base/job_environment.h"
#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/kube/json.h"
#include "extender/gang/owner_kinds.h"

namespace crossover::extender {
namespace {

bool Has(const Pod& pod, const char* key) {
  return *key == '\0' || pod.labels.contains(key) || pod.annotations.contains(key);
}

// Returns whether a Job made the pod on behalf of an object of this kind (OwnerKind::by_job).
bool IsMadeByJob(const Pod& pod, const OwnerKind& kind) {
  return *kind.by_job != '\0' && pod.owner && pod.owner->kind == "Job" &&
         pod.owner->api_version == "batch/v1" && pod.owner->name == MarkOf(pod, kind.name) + kind.by_job;
}

bool IsMadeBy(const Pod& pod, const OwnerKind& kind) {
  if (!kind.made_it || IsMadeByJob(pod, kind)) return true;
  return pod.owner && pod.owner->kind == kind.kind && pod.owner->api_version == kind.api_version;
}

const OwnerKind* KindOf(const Pod& pod) {
  for (const OwnerKind& kind : OwnerKinds()) {
    if (IsMadeBy(pod, kind) && Has(pod, kind.name) && Has(pod, kind.also)) return &kind;
  }
  return nullptr;
}

// Returns the gang size that `text` says, or 0 if it is invalid. The rule of our annotation also holds for
// the labels of other controllers.
int SizeIn(const std::string& text) {
  const bool whole = text.find('\0') == std::string::npos;
  return whole ? static_cast<int>(base::GangSizeOf(text.c_str())) : 0;
}

const char* ExpectedSizes() { return annotations::RuleOf(base::kGangSizeAnnotation)->expected; }

std::string SizeFault(const std::string& key, const std::string& value) {
  return base::Refusal(key, ExpectedSizes(), annotations::Shown(value));
}

// Returns the name of the Deployment that made this ReplicaSet, or "" if none did. The pods of a Deployment
// have the hash of their template in a label, and at the end of their ReplicaSet's name.
std::string DeploymentOf(const Pod& pod) {
  if (pod.owner->kind != "ReplicaSet") return "";
  const auto hash = pod.labels.find("pod-template-hash");
  const std::string end = hash == pod.labels.end() ? "" : "-" + hash->second;
  const std::string& name = pod.owner->name;
  if (end.empty() || !name.ends_with(end)) return "";
  return name.substr(0, name.size() - end.size());
}

Maker MakerOf(const Pod& pod) {
  // Several controllers may make the pods of a RayCluster, such as one for each group of workers.
  const auto ray = pod.labels.find("ray.io/cluster");
  if (ray != pod.labels.end()) return {"RayCluster", ray->second, pod.name_space + "/ray/" + ray->second};
  if (!pod.owner) return {};
  const std::string deployment = DeploymentOf(pod);
  if (!deployment.empty()) return {"Deployment", deployment, pod.name_space + "/deployment/" + deployment};
  return {pod.owner->kind, pod.owner->name, pod.name_space + "/owner/" + pod.owner->uid};
}

Membership Alone(const Pod& pod) {
  Membership gang;
  gang.maker = MakerOf(pod);
  gang.job = gang.maker.id;
  gang.known = gang.maker.id.empty() ? Known::kBare : Known::kNotKnown;
  gang.id = pod.name_space + "/pod/" + pod.name + "/" + pod.uid;
  gang.name = pod.name;
  gang.size = 1;
  return gang;
}

Membership ByAnnotation(const Pod& pod) {
  const std::string& name = pod.annotations.at(base::kGangAnnotation);
  Membership gang;
  gang.known = Known::kByAnnotation;
  gang.id = pod.name_space + "/gang/" + name;
  gang.name = name;
  // Pods that the same owner made again are another attempt of the same gang.
  const OwnerKind* kind = KindOf(pod);
  const std::string_view keys = kind == nullptr ? "" : kind->incarnations;
  if (const std::size_t blank = keys.find(' '); blank != std::string_view::npos) {
    gang.id += "/" + MarkOf(pod, std::string(keys.substr(blank + 1)));
  }
  const auto size = pod.annotations.find(base::kGangSizeAnnotation);
  if (const auto wrong = annotations::FaultOf(base::kGangAnnotation, name)) {
    gang.fault = *wrong;
  } else if (size == pod.annotations.end()) {
    gang.fault = base::Refusal(
        base::kGangSizeAnnotation,
        ExpectedSizes() + std::string(" beside ") + base::kGangAnnotation + ": " + annotations::Shown(name),
        "none");
  } else if ((gang.size = SizeIn(size->second)) == 0) {
    gang.fault = SizeFault(base::kGangSizeAnnotation, size->second);
  }
  return gang;
}

// Returns the values that differ between an attempt and the next. For a pod that a Job of the object made,
// the object's UID is known only from `facts`; before that the UID of the Job stands in.
std::string Incarnation(const Pod& pod, const OwnerKind& kind, const OwnerFacts* facts) {
  std::string text;
  std::string_view keys = kind.incarnations;
  while (!keys.empty()) {
    const std::size_t blank = keys.find(' ');
    text += "/" + MarkOf(pod, std::string(keys.substr(0, blank)));
    keys = blank == std::string_view::npos ? std::string_view() : keys.substr(blank + 1);
  }
  if (kind.made_it) {
    text += "/" + (facts != nullptr && IsMadeByJob(pod, kind) ? facts->uid : pod.owner->uid);
  }
  return text;
}

std::string PartOf(const Pod& pod, const OwnerKind& kind) {
  if (*kind.part == '\0') return "";
  const std::string& part = MarkOf(pod, kind.part);
  return *kind.leader_template == '\0' || part == "0" ? part : "";
}

Membership ByOwner(const Pod& pod, const OwnerKind& kind, const OwnerFacts* facts) {
  const std::string& name = MarkOf(pod, kind.name);
  Membership gang;
  gang.known = Known::kByOwner;
  gang.id = pod.name_space + "/" + kind.name + "/" + name;
  gang.name = name;
  if (*kind.index != '\0')
    gang.id += "/" + MarkOf(pod, kind.index), gang.name += "/" + MarkOf(pod, kind.index);
  gang.id += Incarnation(pod, kind, facts);
  if (*kind.size != '\0') {
    gang.size = SizeIn(MarkOf(pod, kind.size));
    if (gang.size == 0) gang.fault = SizeFault(kind.size, MarkOf(pod, kind.size));
    return gang;
  }
  gang.owner = OwnerRef{kind.api_version, kind.kind, pod.name_space, name, Incarnation(pod, kind, nullptr)};
  if (facts == nullptr) return gang;
  const std::string part = PartOf(pod, kind);
  const auto found = facts->parts.find(part);
  const int in_part = found == facts->parts.end() ? 0 : found->second.all();
  gang.size = facts->ordered ? in_part : facts->total();
  if (facts->ordered) gang.part = part, gang.job = gang.id, gang.id += "/" + part;
  if (gang.size == 0) {
    gang.fault = base::Refusal(
        std::string(kind.kind) + " " + name,
        std::string("pods of a template that asks for ") + base::kSlotResource + " or nvidia.com/gpu",
        "none");
  }
  return gang;
}

}  // namespace

Membership MembershipOf(const Pod& pod, const OwnerFacts* facts) {
  std::string other = pod.pod_group.empty() ? "" : "Kubernetes' own gang scheduling";
  for (const OtherScheduler& scheduler : OtherSchedulers()) {
    if (other.empty() && Has(pod, scheduler.key)) other = scheduler.name;
  }
  if (!other.empty()) {
    Membership alone = Alone(pod);
    alone.known = Known::kAside;
    alone.aside = other + " answers for its gang: its pods are placed one by one, and share no GPU";
    return alone;
  }
  if (pod.annotations.contains(base::kGangAnnotation)) return ByAnnotation(pod);
  const OwnerKind* kind = KindOf(pod);
  return kind == nullptr ? Alone(pod) : ByOwner(pod, *kind, facts);
}

std::string AboutGang(const Membership& membership) {
  if (membership.known != Known::kNotKnown) return "";
  return base::Refusal(
             annotations::Shown(membership.maker.kind) + " " + annotations::Shown(membership.maker.name),
             base::kGangAnnotation + std::string(" and ") + base::kGangSizeAnnotation +
                 (membership.maker.kind == "Job" ? ", or completionMode: Indexed"
                                                 : ", or an owner of a known kind"),
             "neither") +
         ": its pods are placed one by one, and no two of them share a GPU";
}

std::string AboutGangOf(const nlohmann::json& pod, const std::string& name_space) {
  if (!kube::At(pod, "metadata").is_object()) return "";
  nlohmann::json named = pod;  // the pod has no UID yet, and may have no name
  for (const char* key : {"uid", "name"}) named["metadata"][key] = "new";
  named["metadata"]["namespace"] = name_space;
  const std::optional<Pod> parsed = api::ParsePod(named);
  if (!parsed) return "";
  const Membership membership = MembershipOf(*parsed);
  return membership.maker.kind == "Job" ? "" : AboutGang(membership);
}

const std::string& MarkOf(const Pod& pod, const std::string& key) {
  static const std::string none;
  for (const Labels* labels : {&pod.labels, &pod.annotations}) {
    const auto found = labels->find(key);
    if (found != labels->end()) return found->second;
  }
  return none;
}

IndexKeys IndexKeysOf(const Pod& pod) {
  const OwnerKind* kind = KindOf(pod);
  if (kind == nullptr) return {};
  return {
      .over_parts = kind->over_parts, .part = kind->part_orders ? kind->part : "", .indices = kind->indices};
}

Unit UnitOf(const Pod& pod) {
  const OwnerKind* kind = KindOf(pod);
  if (kind == nullptr) return {};
  return {.part = PartOf(pod, *kind), .group = *kind->group == '\0' ? "" : MarkOf(pod, kind->group)};
}

std::optional<OwnerRef> OwnerOf(const Pod& pod) { return MembershipOf(pod).owner; }

}  // namespace crossover::extender

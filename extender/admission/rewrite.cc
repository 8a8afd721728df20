#include "extender/admission/rewrite.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/annotations/domain.h"
#include "common/base/foreign_keys.h"
#include "common/base/job_environment.h"
#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/kube/json.h"
#include "common/kube/shm_mounts.h"
#include "extender/admission/annotations.h"
#include "extender/admission/edit_json.h"
#include "extender/admission/gpus.h"

namespace crossover::extender::admission {
namespace {

using annotations::Shown;
using kube::At;
using kube::Text;
using nlohmann::json;

constexpr char kDefaultScheduler[] = "default-scheduler";
constexpr int kTryLater = 503;
constexpr int kReadableByAll = 0644;

Decision Refused(std::string why) {
  Decision decision{.outcome = Outcome::kRefused, .verdict = {}};
  decision.verdict.allowed = false;
  decision.verdict.refusal = std::move(why);
  return decision;
}

Decision WithWarning(Outcome outcome, std::string warning) {
  Decision decision{.outcome = outcome, .verdict = {}};
  decision.verdict.warnings.push_back(std::move(warning));
  return decision;
}

// Returns a warning if another scheduler or the user places the pod. Such a pod is not rewritten: it keeps
// the whole GPUs that it asked for.
std::optional<std::string> PlacedByOthers(const json& spec) {
  const std::string scheduler = Text(At(spec, "schedulerName"));
  if (!scheduler.empty() && scheduler != kDefaultScheduler && scheduler != base::kSchedulerName)
    return std::string(base::kShareAnnotation) + " has no effect: spec.schedulerName is " + Shown(scheduler) +
           ": leave spec.schedulerName out";
  if (!Text(At(spec, "nodeName")).empty())
    return std::string(base::kShareAnnotation) +
           " has no effect: spec.nodeName is set: use spec.nodeSelector";
  return std::nullopt;
}

Decision NotReady() {
  Decision decision = Refused("the quotas and limit ranges of namespaces are not known yet: try again");
  decision.outcome = Outcome::kNotReady;
  decision.verdict.code = kTryLater;
  return decision;
}

bool IsWhole(const RewriteSettings& settings, const std::string& resource) {
  const auto& whole = settings.whole_gpus;
  return std::find(whole.begin(), whole.end(), resource) != whole.end();
}

// Returns why the pod is refused if the namespace limits whole GPUs but not slots: then the pod would evade
// the quota. Returns nothing if the quotas allow the pod.
std::optional<std::string> WhyOverQuota(const std::string& name_space, const RewriteSettings& settings,
                                        const NamespaceLimits& limits) {
  constexpr char kRequests[] = "requests.";
  if (limits.quotas.contains(std::string(kRequests) + base::kSlotResource)) return std::nullopt;
  for (const std::string& resource : settings.whole_gpus) {
    if (!limits.quotas.contains(kRequests + resource)) continue;
    return "namespace " + name_space + " has a quota on " + resource + " and none on " + base::kSlotResource +
           ": an administrator has to limit requests." + base::kSlotResource +
           " before pods share there; twice the number of GPUs lets two jobs share each";
  }
  return std::nullopt;
}

// Returns why the pod is refused if a LimitRange has bounds for whole GPUs: the API server then refuses each
// container that does not ask for them, and a container that shares asks for slots. Returns nothing if the
// ranges allow the pod.
std::optional<std::string> WhyOutOfRange(const std::string& name_space, const RewriteSettings& settings,
                                         const NamespaceLimits& limits) {
  for (const RangeRule& rule : limits.ranges) {
    if (rule.kind == RangeRule::Kind::kDefault || !IsWhole(settings, rule.resource)) continue;
    const std::string key = "namespace " + name_space + ", LimitRange " + rule.range + ": " +
                            NameOf(rule.kind) + "." + rule.resource;
    const std::string none =
        std::string("none, because pods that share ask for ") + base::kSlotResource + " in its place";
    return base::Refusal(key, none, Shown(rule.amount)) + ": an administrator has to bound " +
           base::kSlotResource + " there, or nothing";
  }
  return std::nullopt;
}

// Returns the whole GPUs that LimitRanges of the namespace give to containers.
std::set<std::string> GivenIn(const NamespaceLimits& limits) {
  std::set<std::string> given;
  for (const RangeRule& rule : limits.ranges) {
    if (rule.kind == RangeRule::Kind::kDefault) given.insert(rule.resource);
  }
  return given;
}

// Replaces whole GPUs by slots, and makes requests equal to limits.
void AskForSlots(const ContainerRequest& asking, json* container) {
  json& resources = Made(container, "resources", json::value_t::object);
  for (const char* part : {"limits", "requests"}) {
    json& amounts = Made(&resources, part, json::value_t::object);
    if (!asking.whole.empty()) amounts.erase(asking.whole);
    if (asking.gpus > 0) amounts[base::kSlotResource] = std::to_string(asking.gpus);
  }
}

// Returns the environment variable that tells the library the container's memory budget. It replaces a
// variable of the same name that the user set. Its value is what the pod's annotation says. Without that
// annotation it refers to the granted memory, which is written before the containers start.
json BudgetOf(const annotations::Annotations& ours) {
  const auto named = ours.find(base::kGpuMemoryAnnotation);
  if (named != ours.end()) return {{"name", base::kGpuMemory.name}, {"value", named->second}};
  const std::string granted = std::string("metadata.annotations['") + base::kGrantedMemoryAnnotation + "']";
  return {{"name", base::kGpuMemory.name},
          {"valueFrom", {{"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", granted}}}}}};
}

// Gives the pod a volume with the weights of its job's ranks, and each of these containers a mount of it and
// the variable that names the file. The kubelet writes the file anew when the annotation changes.
void ShowWeights(const std::vector<ContainerRequest>& containers, json* spec) {
  constexpr char kVolume[] = "crossover-batch-shares";
  const std::string path = std::string("metadata.annotations['") + base::kWeightsAnnotation + "']";
  const json item = {{"path", base::kWeightsName}, {"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", path}}}};
  const json source = {{"defaultMode", kReadableByAll}, {"items", json::array({item})}};
  PutNamed({{"name", kVolume}, {"downwardAPI", source}}, &Made(spec, "volumes", json::value_t::array));
  for (const ContainerRequest& asking : containers) {
    if (asking.gpus == 0) continue;
    json& container = (*spec)[asking.list][asking.index];
    PutNamed({{"name", kVolume}, {"mountPath", base::kWeightsFolder}, {"readOnly", true}},
             &Made(&container, "volumeMounts", json::value_t::array));
    PutNamed({{"name", base::kWeightsVariable}, {"value", base::kWeightsFile}},
             &Made(&container, "env", json::value_t::array));
  }
}

// Moves the container's volume at /dev/shm to base::kMovedShm. Under MPS the container needs the node's
// /dev/shm, which comes with its slots. A volume of the pod would hide it, because the kubelet adds the pod's
// mounts after it.
void MoveShm(json* container) {
  if (!kube::HasOwnShm(*container)) return;
  for (json& mount : (*container)["volumeMounts"]) {
    if (kube::IsSameFolder(Text(At(mount, "mountPath")), base::kShm)) mount["mountPath"] = base::kMovedShm;
  }
}

// Returns why the volumes at /dev/shm cannot be moved, or nothing if they can. Afterwards two mounts would
// have one path, and an API server refuses that.
std::optional<std::string> WhyNotMoved(const json& spec, const std::vector<ContainerRequest>& containers) {
  for (const ContainerRequest& asking : containers) {
    const json& container = At(spec, asking.list)[asking.index];
    const auto here = kube::MountsAt(container, base::kShm);
    const auto both = here + kube::MountsAt(container, base::kMovedShm);
    if (asking.gpus == 0 || here == 0 || both < 2) continue;
    return base::Refusal("container " + Shown(asking.name) + ": its volume mounts at " + base::kShm +
                             " and " + base::kMovedShm,
                         "one at most, because the webhook moves a mount from the first path to the second",
                         std::to_string(both));
  }
  return std::nullopt;
}

// Returns why a container with GPUs cannot load the library that compresses, or nothing if each can.
std::optional<std::string> WhyNotLoaded(const json& spec, const std::vector<ContainerRequest>& containers) {
  for (const ContainerRequest& asking : containers) {
    if (asking.gpus == 0) continue;
    if (auto why = WhyNotPreloaded(At(spec, asking.list)[asking.index])) return why;
  }
  return std::nullopt;
}

// Returns the names of the volumes that the container has at /dev/shm.
std::set<std::string> VolumesAtShm(const json& container) {
  std::set<std::string> names;
  for (const json& mount : kube::ListAt(container, "volumeMounts")) {
    if (kube::IsSameFolder(Text(At(mount, "mountPath")), base::kShm)) names.insert(Text(At(mount, "name")));
  }
  return names;
}

// Returns a warning for each container whose volume at /dev/shm is moved, and for each container without GPUs
// that keeps the same volume at /dev/shm.
std::vector<std::string> WarningsOfMoves(const json& spec, const std::vector<ContainerRequest>& containers) {
  std::vector<std::string> warnings;
  std::set<std::string> moved;
  for (const ContainerRequest& asking : containers) {
    const json& container = At(spec, asking.list)[asking.index];
    if (asking.gpus == 0 || !kube::HasOwnShm(container)) continue;
    moved.merge(VolumesAtShm(container));
    warnings.push_back("container " + Shown(asking.name) + ": its volume at " + base::kShm + " is at " +
                       base::kMovedShm + ": under MPS " + base::kShm + " is the node's");
  }
  for (const ContainerRequest& asking : containers) {
    if (asking.gpus > 0) continue;
    const auto here = VolumesAtShm(At(spec, asking.list)[asking.index]);
    if (std::none_of(here.begin(), here.end(), [&](const std::string& name) { return moved.contains(name); }))
      continue;
    warnings.push_back("container " + Shown(asking.name) + ": it shares its volume at " + base::kShm +
                       " with a container that now has the volume at " + base::kMovedShm);
  }
  return warnings;
}

// Returns a warning for each container whose volume at /dev/shm stays and keeps the pod off nodes with MPS.
std::vector<std::string> WarningsOfStays(const json& spec, const std::vector<ContainerRequest>& containers) {
  std::vector<std::string> warnings;
  for (const ContainerRequest& asking : containers) {
    if (asking.gpus == 0 || !kube::HasOwnShm(At(spec, asking.list)[asking.index])) continue;
    warnings.push_back("container " + Shown(asking.name) + ": with a volume at " + base::kShm +
                       " the pod gets no node on which jobs share through MPS");
  }
  return warnings;
}

void AddIfMissing(const json& value, json* list) {
  if (std::find(list->begin(), list->end(), value) == list->end()) list->push_back(value);
}

// Autoscalers see no whole GPUs in use on a node with slots, so they count the node as empty. With these
// annotations Cluster Autoscaler and Karpenter do not remove the node while the pod runs there. To the
// Descheduler ranks of a gang on one node are duplicates; the third annotation asks it to leave them. What a
// user set stays.
void ProtectFromAutoscalers(json* annotations) {
  annotations->emplace(base::kSafeToEvictAnnotation, "false");
  annotations->emplace(base::kDoNotDisruptAnnotation, "true");
  annotations->emplace(base::kPreferNoEvictionAnnotation, "true");
}

void SetPod(const RewriteSettings& settings, const std::string& mark, json* pod) {
  json& metadata = Made(pod, "metadata", json::value_t::object);
  Made(&metadata, "labels", json::value_t::object)[base::kManagedLabel] = "true";
  json& annotations = Made(&metadata, "annotations", json::value_t::object);
  annotations[base::kAdmittedAnnotation] = mark;
  if (settings.protect_from_autoscalers) ProtectFromAutoscalers(&annotations);
  json& spec = Made(pod, "spec", json::value_t::object);
  spec["schedulerName"] = base::kSchedulerName;
  AddIfMissing({{"name", base::kGangGate}}, &Made(&spec, "schedulingGates", json::value_t::array));
  for (const json& toleration : settings.tolerations)
    AddIfMissing(toleration, &Made(&spec, "tolerations", json::value_t::array));
  if (!settings.runtime_class.empty() && Text(At(spec, "runtimeClassName")).empty())
    spec["runtimeClassName"] = settings.runtime_class;
}

json Wanted(const json& pod, const std::vector<ContainerRequest>& containers, const RewriteSettings& settings,
            const std::string& name_space) {
  json wanted = pod;
  const annotations::Annotations ours = annotations::OursOf(pod, "annotations");
  const json budget = BudgetOf(ours);
  const std::string shrink = ShrinkLevelOf(pod);
  for (const ContainerRequest& asking : containers) {
    if (asking.gpus == 0 && asking.whole.empty()) continue;
    json& container = wanted["spec"][asking.list][asking.index];
    AskForSlots(asking, &container);
    if (asking.gpus > 0) PutNamed(budget, &Made(&container, "env", json::value_t::array));
    if (asking.gpus > 0 && settings.node_shm) MoveShm(&container);
    if (asking.gpus > 0 && !shrink.empty()) PreloadShrink(shrink, &container);
  }
  if (ours.contains(base::kBatchSharesAnnotation)) ShowWeights(containers, &wanted["spec"]);
  SetPod(settings, AdmittedMark(name_space, ours), &wanted);
  return wanted;
}

bool AsksForSlots(const json& spec) {
  const auto containers = GpusOf(spec, {});
  const auto* asking = std::get_if<std::vector<ContainerRequest>>(&containers);
  return asking != nullptr && std::any_of(asking->begin(), asking->end(),
                                          [](const ContainerRequest& one) { return one.gpus > 0; });
}

Decision RewriteSharing(const json& pod, const std::string& name_space, const RewriteSettings& settings,
                        const LimitsLookup& lookup) {
  const json& spec = At(pod, "spec");
  if (auto others = PlacedByOthers(spec)) {
    if (!AsksForSlots(spec)) return WithWarning(Outcome::kLeftAlone, *std::move(others));
    // Nothing would check which jobs it shares its GPUs with: the kubelet picks its slots.
    return Refused(std::string(base::kSlotResource) + ": asked for, but " + *others);
  }
  const auto limits = lookup(name_space);
  if (!limits) return NotReady();
  auto containers = GpusOf(spec, settings.whole_gpus, GivenIn(*limits));
  if (auto* fault = std::get_if<std::string>(&containers)) return Refused(std::move(*fault));
  const auto& asking = std::get<std::vector<ContainerRequest>>(containers);
  if (std::none_of(asking.begin(), asking.end(), [](const ContainerRequest& one) { return one.gpus > 0; })) {
    std::string resources = base::kSlotResource;
    for (const std::string& resource : settings.whole_gpus) resources += " or " + resource;
    return Refused(std::string(base::kShareAnnotation) + ": no container asks for " + resources);
  }
  if (auto fault = Misplaced(asking)) return Refused(*std::move(fault));
  if (auto fault = settings.node_shm ? WhyNotMoved(spec, asking) : std::nullopt)
    return Refused(*std::move(fault));
  if (auto fault = ShrinkLevelOf(pod).empty() ? std::nullopt : WhyNotLoaded(spec, asking))
    return Refused(*std::move(fault));
  if (auto why = WhyOverQuota(name_space, settings, *limits)) return Refused(*std::move(why));
  if (auto why = WhyOutOfRange(name_space, settings, *limits)) return Refused(*std::move(why));
  auto patch = PatchBetween(pod, Wanted(pod, asking, settings, name_space), settings.differ);
  if (!patch) {
    return WithWarning(Outcome::kUnpatchable, std::string(base::kShareAnnotation) +
                                                  " has no effect: the pod could not be rewritten");
  }
  Decision decision{.outcome = Outcome::kRewritten, .verdict = {}};
  decision.verdict.patch = *std::move(patch);
  if (settings.node_shm) decision.verdict.warnings = WarningsOfMoves(spec, asking);
  if (!settings.node_shm && settings.mps_somewhere && settings.mps_somewhere())
    decision.verdict.warnings = WarningsOfStays(spec, asking);
  const std::string about = settings.about_gang ? settings.about_gang(pod, name_space) : "";
  if (!about.empty()) decision.verdict.warnings.push_back(about);
  return decision;
}

}  // namespace

const char* NameOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kUntouched:
      return "untouched";
    case Outcome::kRewritten:
      return "rewritten";
    case Outcome::kLeftAlone:
      return "left_alone";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kNotReady:
      return "not_ready";
    case Outcome::kUnpatchable:
      return "unpatchable";
    case Outcome::kMalformed:
      break;
  }
  return "malformed";
}

Decision Rewrite(const json& pod, const std::string& name_space, const RewriteSettings& settings,
                 const LimitsLookup& limits) {
  if (auto refusal = RefusalOf(pod)) return Refused(*std::move(refusal));
  if (settings.topology) {
    if (auto refusal = RefusalOfWithin(pod, *settings.topology)) return Refused(*std::move(refusal));
  }
  if (auto refusal = RefusalOfShrink(pod, settings.shrink)) return Refused(*std::move(refusal));
  if (annotations::OursOf(pod, "annotations").contains(base::kShareAnnotation))
    return RewriteSharing(pod, name_space, settings, limits);
  if (!AsksForSlots(At(pod, "spec"))) return {};
  return Refused(base::Refusal(base::kShareAnnotation,
                               std::string("true or exclusive, as the pod asks for ") + base::kSlotResource,
                               "none"));
}

}  // namespace crossover::extender::admission

#include "common/api/pod.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "common/annotations/domain.h"
#include "common/api/fields.h"
#include "common/base/names.h"
#include "common/kube/pod_constraints.h"
#include "common/kube/pod_requests.h"
#include "common/kube/pod_users.h"
#include "common/kube/profile_key.h"
#include "common/kube/shm_mounts.h"
#include "common/kube/slots.h"
#include "common/text/truncate.h"

namespace crossover::api {
namespace {

using kube::At;
using kube::ListAt;
using nlohmann::json;

constexpr std::int64_t kMostSlotsOfContainer = 1024;  // per container

std::optional<Owner> OwnerIn(const json& metadata) {
  for (const json& reference : ListAt(metadata, "ownerReferences")) {
    if (!IsTrue(reference, "controller")) continue;
    return Owner{.api_version = TextAt(reference, "apiVersion"),
                 .kind = TextAt(reference, "kind"),
                 .name = TextAt(reference, "name"),
                 .uid = TextAt(reference, "uid")};
  }
  return std::nullopt;
}

Scheduled ScheduledIn(const json& status) {
  for (const json& condition : ListAt(status, "conditions")) {
    if (TextAt(condition, "type") != "PodScheduled") continue;
    return {.yes = TextAt(condition, "status") == "True",
            .reason = TextAt(condition, "reason"),
            .message = std::string(text::Truncate(TextAt(condition, "message"), kLongestMessage)),
            .at_s = InstantAt(condition, "lastTransitionTime")};
  }
  return {};
}

// Returns the number of slots that a container asks for, at most kMostSlotsOfContainer.
int SlotsOf(const json& container) {
  return static_cast<int>(std::min(kube::SlotsOf(container), kMostSlotsOfContainer));
}

Shm ShmOf(const json& container) {
  if (kube::HasOwnShm(container)) return Shm::kOwn;
  return kube::HasMountAt(container, base::kMovedShm) ? Shm::kMoved : Shm::kUsual;
}

void AddContainers(const json& spec, const char* key, bool init, std::vector<Container>* to) {
  for (const json& container : ListAt(spec, key)) {
    const int slots = SlotsOf(container);
    to->push_back({.name = TextAt(container, "name"),
                   .slots = slots,
                   .init = init,
                   .sidecar = init && TextAt(container, "restartPolicy") == "Always",
                   .shm = slots > 0 ? ShmOf(container) : Shm::kUsual});
  }
}

void ReadUsers(const json& spec, Pod* pod) {
  const std::set<kube::UserId> users = kube::UsersOf(spec);
  // If the image decides, the user usually is root. gang/request.cc assumes the same.
  pod->several_users = std::any_of(users.begin(), users.end(), [&users](const auto& user) {
    return user.value_or(0) != users.begin()->value_or(0);
  });
  if (!pod->several_users) pod->user = *users.rbegin();  // a user ID that is named comes last
  pod->own_users = kube::HasOwnUsers(spec);
}

Shm ShmOf(const std::vector<Container>& containers) {
  const auto any = [&containers](Shm shm) {
    return std::ranges::find(containers, shm, &Container::shm) != containers.end();
  };
  if (any(Shm::kOwn)) return Shm::kOwn;
  return any(Shm::kMoved) ? Shm::kMoved : Shm::kUsual;
}

std::vector<Toleration> TolerationsIn(const json& spec) {
  std::vector<Toleration> tolerations;
  for (const json& toleration : ListAt(spec, "tolerations")) {
    const std::string op = TextAt(toleration, "operator");
    if (!op.empty() && op != "Equal" && op != "Exists") continue;
    tolerations.push_back({.key = TextAt(toleration, "key"),
                           .effect = TextAt(toleration, "effect"),
                           .value = TextAt(toleration, "value"),
                           .exists = op == "Exists"});
  }
  return tolerations;
}

std::string PodGroupIn(const json& spec) {
  std::string group = TextAt(At(spec, "schedulingGroup"), "podGroupName");
  return group.empty() ? TextAt(At(spec, "workloadRef"), "name") : group;
}

std::string PreferencesIn(const json& spec) {
  const json& affinity = At(At(spec, "affinity"), "nodeAffinity");
  const json& terms = ListAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  return terms.empty() ? "" : kube::Dump(terms);
}

void ReadSpec(const json& spec, Pod* pod) {
  pod->node = TextAt(spec, "nodeName");
  pod->scheduler = TextAt(spec, "schedulerName");
  pod->pod_group = PodGroupIn(spec);
  for (const json& gate : ListAt(spec, "schedulingGates")) pod->gates.push_back(TextAt(gate, "name"));
  AddContainers(spec, "initContainers", true, &pod->containers);
  AddContainers(spec, "containers", false, &pod->containers);
  pod->selection = kube::NodeSelectionOf(spec);
  if (std::ranges::count(pod->gates, base::kGangGate) > 0) pod->preferences = PreferencesIn(spec);
  pod->tolerations = TolerationsIn(spec);
  pod->constraints = kube::PodConstraintsOf(spec, pod->labels);
  ReadUsers(spec, pod);
  pod->shm = ShmOf(pod->containers);
  pod->priority = static_cast<std::int32_t>(WholeAt(spec, "priority", INT32_MIN, INT32_MAX));
  pod->preempts = TextAt(spec, "preemptionPolicy") != "Never";
}

}  // namespace

// Once an init container has ended, the kubelet gives its slots to the containers after it. Init containers
// therefore count by their maximum, not by their sum.
int Pod::slots() const {
  int together = 0, sidecars = 0, most = 0;
  for (const Container& container : containers) {
    if (!container.init) {
      together += container.slots;
    } else if (container.sidecar) {
      sidecars += container.slots;
    } else {
      most = std::max(most, sidecars + container.slots);
    }
  }
  return std::max(most, together + sidecars);
}

std::optional<Pod> ParsePod(const json& object) {
  const json& metadata = At(object, "metadata");
  Pod pod;
  pod.uid = TextAt(metadata, "uid");
  pod.name_space = TextAt(metadata, "namespace");
  pod.name = TextAt(metadata, "name");
  if (pod.uid.empty() || pod.name_space.empty() || pod.name.empty()) return std::nullopt;
  pod.profile_key = kube::ProfileKeyOf(object);
  pod.version = TextAt(metadata, "resourceVersion");
  pod.created_s = InstantAt(metadata, "creationTimestamp");
  pod.deleting = !TextAt(metadata, "deletionTimestamp").empty();
  if (pod.deleting) pod.grace_s = WholeAt(metadata, "deletionGracePeriodSeconds", 0, INT32_MAX);
  pod.labels = kube::LabelsAt(metadata, "labels");
  pod.annotations = kube::LabelsAt(metadata, "annotations");
  std::erase_if(pod.annotations, [](const auto& entry) {
    return !annotations::IsOurs(entry.first) && entry.second.size() > kLongestOthersAnnotation;
  });
  pod.owner = OwnerIn(metadata);
  ReadSpec(At(object, "spec"), &pod);
  const json& status = At(object, "status");
  const std::string phase = TextAt(status, "phase");
  pod.failed = phase == "Failed";
  pod.over = pod.failed || phase == "Succeeded";
  pod.running = phase == "Running";
  pod.scheduled = ScheduledIn(status);
  pod.requests = kube::RequestsOf(object);
  return pod;
}

}  // namespace crossover::api

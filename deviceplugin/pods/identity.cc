#include "deviceplugin/pods/identity.h"

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/job_environment.h"
#include "common/base/names.h"
#include "deviceplugin/pods/cgroup.h"
#include "deviceplugin/values/values.h"
#include "proto/arbiter_protocol.h"

namespace crossover::deviceplugin {
namespace {

// Returns how many MiB of each GPU the containers of the pod may have, rounded up, or 0 if the pod has no
// limit. The lower one of the user's annotation and the pod's grant holds. The user may change the annotation
// of a running pod, but the pods beside it were placed by the grant.
std::uint32_t LimitOf(const Pod& pod) {
  constexpr unsigned long long kMiB = 1 << 20;
  unsigned long long least = 0;
  for (const char* annotation : {base::kGpuMemoryAnnotation, base::kGrantedMemoryAnnotation}) {
    const std::string& text = pod.Annotation(annotation);
    const unsigned long long bytes = text.empty() ? 0 : base::GpuMemoryOf(text.c_str());
    if (bytes != 0 && (least == 0 || bytes < least)) least = bytes;
  }
  return static_cast<std::uint32_t>((least + kMiB - 1) / kMiB);
}

}  // namespace

arbiter::Hello HelloOf(const Pod& pod, const arbiter::Hello& hello) {
  arbiter::Hello known = hello;
  known.gang = GangOf(pod);
  known.name_space = pod.name_space;
  known.pod = pod.name;
  known.pod_uid = pod.uid;
  known.memory_mib = LimitOf(pod);
  const std::string& size = pod.Annotation(base::kGangSizeAnnotation);
  if (base::IsGangSize(size.c_str()))
    known.gang_size = static_cast<std::uint32_t>(base::GangSizeOf(size.c_str()));
  const std::string& priority = pod.Annotation(base::kTurnPriorityAnnotation);
  if (priority == "high") known.priority = CROSSOVER_PRIORITY_HIGH;
  if (priority == "normal") known.priority = CROSSOVER_PRIORITY_NORMAL;
  if (priority == "low") known.priority = CROSSOVER_PRIORITY_LOW;
  const std::string& slowdown = pod.Annotation(base::kMaxSlowdownAnnotation);
  if (base::IsSlowdown(slowdown.c_str())) known.max_slowdown = base::SlowdownOf(slowdown.c_str());
  return known;
}

std::variant<arbiter::Hello, arbiter::Unidentified> PodIdentity::Identify(const arbiter::Peer& peer,
                                                                          const arbiter::Hello& hello) const {
  const std::string process = "process " + std::to_string(peer.pid);
  if (!peer.pidfd)
    return arbiter::Unidentified{process + " has just begun, or this daemon cannot see when it ends"};
  const auto uid = PodUidOf(peer, cgroup_root_);
  if (!uid) return arbiter::Unidentified{process + " belongs to no pod of this node"};
  const auto pod = pods_->Find(*uid);
  if (!pod || pod->over)
    return arbiter::Unidentified{"pod " + *uid + " of " + process +
                                 " is not known to this daemon yet, or has ended"};
  if (!slots_->Holds(pod->uid, hello.gpu_uuid)) {
    return arbiter::Unidentified{"pod " + NameOf(*pod) + " has no slot of gpu " + hello.gpu_uuid};
  }
  return HelloOf(*pod, hello);
}

// Returns nothing if the pod is not known: a process may begin before the API server tells this daemon of its
// pod.
std::optional<std::uint32_t> PodIdentity::MemoryOf(const arbiter::Account& account) const {
  if (!account.pod_uid) return std::nullopt;
  if (account.pod_uid->empty()) return 0;
  const auto pod = pods_->Find(*account.pod_uid);
  return pod ? std::optional(LimitOf(*pod)) : std::nullopt;
}

arbiter::Account PodIdentity::AccountOf(const arbiter::Peer& peer) const {
  return AccountIn(CgroupsOf(peer), cgroup_root_, peer);
}

bool PodIdentity::MaySignal(const arbiter::Account& account) const {
  if (!account.pod_uid) return false;
  if (account.pod_uid->empty()) return true;
  const auto pod = pods_->Find(*account.pod_uid);
  return pod && !pod->over && !own_namespace_.empty() && pod->name_space == own_namespace_;
}

// Returns an account of the pod, and not of the user: pods may run as the same user, but each has its own
// limit.
arbiter::Account AccountIn(const std::optional<std::string>& cgroups, const std::string& cgroup_root,
                           const arbiter::Peer& peer) {
  arbiter::Account account = arbiter::AccountOfUser(peer);
  if (!cgroups) return account;
  const auto uid = PodUidOf(*cgroups, cgroup_root);
  if (uid) account.name = "pod " + *uid;
  account.pod_uid = uid.value_or("");
  return account;
}

arbiter::Permissions PodIdentity::PermissionsOf(const arbiter::Member& member) const {
  const auto pod = pods_->Find(member.pod_uid);
  if (!pod || pod->over) return {arbiter::Policy::kOff, "pod " + member.pod_uid + " has ended"};
  const auto says = [](const std::string& whose, arbiter::Policy mode) {
    return arbiter::Permissions{
        mode, std::string(base::kModeAnnotation) + " of " + whose + " is " + std::string(PolicyName(mode))};
  };
  const arbiter::Policy of_pod = ModeIn(pod->annotations);
  const arbiter::Policy of_namespace = namespaces_->ModeOf(pod->name_space);
  if (of_namespace < of_pod) return says("namespace " + pod->name_space, of_namespace);
  if (of_pod < arbiter::Policy::kEnforce) return says("pod " + pod->name_space + "/" + pod->name, of_pod);
  return {};
}

}  // namespace crossover::deviceplugin

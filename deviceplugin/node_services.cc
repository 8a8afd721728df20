#include "deviceplugin/node_services.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/clock.h"
#include "common/base/names.h"
#include "common/logging/log.h"
#include "deviceplugin/config/values.h"
#include "deviceplugin/inject/library_store.h"
#include "deviceplugin/inventory/rivals.h"
#include "deviceplugin/sharing/outside_mps.h"
#include "deviceplugin/switches/limits.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kPatience{200};  // the kubelet admits no other pod meanwhile
constexpr std::chrono::milliseconds kPeriod{500};
constexpr std::chrono::minutes kLibraryPeriod{10};
// Since a version was last installed: another daemon may just have begun to hand it out.
constexpr std::chrono::hours kLeastAge{1};
constexpr char kReporter[] = CROSSOVER_DOMAIN "/deviceplugin";

}  // namespace

NodeServices::NodeServices(const NodeSettings& settings, const Surroundings& around)
    : settings_(settings),
      around_(around),
      plugins_(settings.kubelet_directory + "/device-plugins"),
      client_(settings.api_server),
      events_(settings.api_server, kReporter, settings.name),
      node_([this] { OnWishes(); }),
      sharing_(
          {settings.mps_directory + "/pipe", settings.mps_control}, settings.live.sharing,
          [pods = around.pods] { return pods->All(); }, settings.cgroup_root),
      live_(settings.live),
      gpus_({.slots_per_gpu = Slots(live_),
             .quiet = std::chrono::seconds(live_.quiet_after_error_s),
             .withheld = "it is not known yet who else uses it"},
            &devices_),
      service_(&devices_, AllocationNow(), [this](std::size_t slots) { return AssignmentOfNext(slots); }),
      check_([this](kube::Event event) { events_.Tell(std::move(event)); }),
      pods_(settings.api_server, "/api/v1/pods?fieldSelector=spec.nodeName%3D" + settings.name, around.pods),
      namespaces_(settings.api_server, "/api/v1/namespaces", around.namespaces,
                  kube::ListWatch::Wanted::kMetadata),
      own_node_(settings.api_server, "/api/v1/nodes?fieldSelector=metadata.name%3D" + settings.name, &node_),
      occupants_({.gpu_uuids = [this] { return Uuids(); },
                  .known = [this] { return KnownOccupants(); },
                  .library = "libcrossover.so",
                  .cgroup_root = settings.cgroup_root}),
      plugin_({plugins_, base::kSlotResource}, &service_),
      publisher_(settings.api_server, [this] { return Report(); }),
      rounds_("xo-node", kPeriod, [this] { Round(); }),
      library_rounds_("xo-library", kLibraryPeriod, [this] { CollectOldLibraries(); }) {}

void NodeServices::Apply(const NodeLiveSettings& live) {
  std::string error;
  const auto library = InstallLibrary(live.library, settings_.host_directory, &error);
  if (!library) logging::Error("the library stays as it is: " + error);
  {
    const std::lock_guard lock(mutex_);
    const AllocationSettings before = std::exchange(live_, live).allocation;
    live_.allocation.library_directory = library.value_or(before.library_directory);
    live_.allocation.socket_directory = before.socket_directory;
  }
  sharing_.Want(live.sharing);
  PutIntoForce();
}

std::uint32_t NodeServices::Slots(const NodeLiveSettings& live) const {
  return sharing_.state().choice.sharing == Sharing::kExclusive ? 1 : live.slots_per_gpu;
}

AllocationSettings NodeServices::AllocationNow() const {
  const std::lock_guard lock(mutex_);
  AllocationSettings allocation = live_.allocation;
  if (sharing_.state().choice.sharing == Sharing::kMps) allocation.mps_directory = settings_.mps_directory;
  return allocation;
}

void NodeServices::PutIntoForce() {
  const std::lock_guard one_at_a_time(force_mutex_);
  service_.Set(AllocationNow());
  const std::lock_guard lock(mutex_);
  gpus_.Set(Slots(live_), std::chrono::seconds(live_.quiet_after_error_s));
}

// On the thread of the node's watch. The next round heeds the rest.
void NodeServices::OnWishes() {
  const std::string choice = node_.wishes().configuration;
  if (std::exchange(choice_, choice) != choice) around_.daemon->RequestReload();
}

std::optional<Checkpoint> NodeServices::ReadKubelet() const {
  return ReadCheckpoint(plugins_, base::kSlotResource);
}

// Which containers have had theirs, and which pods have what.
PodTable::Done NodeServices::NoteDone(const Checkpoint& kubelet) const {
  PodTable::Done done;
  for (const HandedOut& entry : kubelet.handed_out) done.emplace(entry.pod_uid, entry.container);
  around_.slots->Set(HoldersOf(kubelet.handed_out));
  return around_.pods->EverDone(done);
}

// Of the container that the kubelet admits now.
std::vector<std::string> NodeServices::AssignmentOfNext(std::size_t slots) const {
  const auto kubelet = ReadKubelet();
  const PodTable::Done done = kubelet ? NoteDone(*kubelet) : around_.pods->EverDone({});
  if (pods_.synced()) around_.pods->AwaitOne(slots, done, kPatience);
  return around_.pods->AssignedTo(slots, done);
}

std::vector<std::string> NodeServices::Uuids() const {
  std::vector<std::string> uuids;
  for (const auto& [uuid, gpu] : devices_.gpus()) uuids.push_back(uuid);
  return uuids;
}

std::optional<OccupantJudge::Known> NodeServices::KnownOccupants() const {
  const auto kubelet = ReadKubelet();
  if (!kubelet || !pods_.synced()) return std::nullopt;
  OccupantJudge::Known known;
  known.holders = HoldersOf(kubelet->handed_out);
  known.mps_servers = sharing_.state().servers;
  for (const auto& member : around_.books->Members()) known.clients.emplace(member->pid, member->gpu->uuid);
  return known;
}

// What is not known now stays as it was found last: nothing is given out, and nobody made anew, for want of
// knowledge.
void NodeServices::Round() {
  if (around_.config->Changed()) around_.daemon->RequestReload();
  const SharingChoice choice = sharing_.state().choice;
  if (choice_in_force_ != choice) PutIntoForce();
  choice_in_force_ = choice;
  const auto kubelet = ReadKubelet();
  std::vector<Pod> misplaced;
  if (kubelet) NoteDone(*kubelet);
  if (kubelet && pods_.synced())
    misplaced = check_.Look(around_.pods->All(), kubelet->handed_out, base::MonotonicNs());
  LimitTurns();
  if (kubelet && pods_.synced() && own_node_.synced()) {
    withheld_ = FindOthers(*kubelet);
    looked_ = true;
  }
  if (looked_) {
    const bool maintenance = node_.wishes().maintenance;
    gpus_.Withhold(withheld_, maintenance ? "the node is in maintenance" : choice.withheld);
  }
  TellOfFaults();
  for (const Pod& pod : misplaced) MakeAnew(pod);
}

// By eviction, which heeds budgets for disruptions and is no failure of the pod's.
void NodeServices::MakeAnew(const Pod& pod) {
  const kube::Response response =
      client_.Send({.method = "POST",
                    .path = "/api/v1/namespaces/" + pod.name_space + "/pods/" + pod.name + "/eviction",
                    .body = R"({"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":")" + pod.name +
                            R"(","namespace":")" + pod.name_space +
                            R"("},"deleteOptions":{"preconditions":{"uid":")" + pod.uid + "\"}}}"});
  const bool done = response.status == 200 || response.status == 201;
  logging::Warn(
      "pod " + NameOf(pod) +
      (done ? " is made anew: it must not stay on its GPU" : " was not evicted: " + WhyNot(response)));
}

// GPUs that are not for us to give out, and why.
std::map<std::string, std::string> NodeServices::FindOthers(const Checkpoint& kubelet) const {
  std::map<std::string, std::string> others = FindRivals(kubelet.registered, node_.allocatable(), Uuids());
  for (const auto& [uuid, who] : occupants_.verdicts().strangers) others.emplace(uuid, "used by " + who);
  if (sharing_.state().choice.sharing == Sharing::kMps)
    others.merge(FindOutsideMps(around_.pods->All(), kubelet.handed_out));
  return others;
}

void NodeServices::LimitTurns() {
  const arbiter::Policy cluster = settings_.name_space.empty()
                                      ? arbiter::Policy::kEnforce
                                      : around_.namespaces->ModeOf(settings_.name_space);
  TurnLimits limits = LimitsOf(node_.wishes(), cluster, settings_.name_space);
  limits.held = check_.held();
  limits.held.merge(HeldByUnhooked());
  around_.daemon->Limit(std::move(limits));
}

bool NodeServices::IsOff(const Pod& pod) const {
  return ModeIn(pod.annotations) == arbiter::Policy::kOff ||
         around_.namespaces->ModeOf(pod.name_space) == arbiter::Policy::kOff;
}

std::map<std::string, std::string> NodeServices::HeldByUnhooked() {
  std::map<std::string, std::string> held;
  std::set<std::pair<pid_t, std::string>> unhooked;
  for (const Occupant& occupant : occupants_.verdicts().unhooked) {
    const auto pod = around_.pods->Find(*occupant.pod_uid);
    const std::string name = pod ? NameOf(*pod) : *occupant.pod_uid;
    const bool off = pod && IsOff(*pod);
    const std::string what = occupant.program + " of pod " + name + " uses it and takes no part" +
                             (off                    ? ": its mode is off"
                              : occupant.has_library ? ""
                                                     : ": the library is not in it");
    held.emplace(occupant.gpu_uuid, what);
    unhooked.emplace(occupant.pid, occupant.gpu_uuid);
    if (!pod || off || unhooked_.contains({occupant.pid, occupant.gpu_uuid})) continue;
    logging::Warn("no turns are taken on gpu " + occupant.gpu_uuid + ": " + what);
    events_.Tell({.regarding = {"Pod", pod->name_space, pod->name, pod->uid},
                  .reason = "TakesNoPart",
                  .action = "HoldTurns",
                  .note = "no turns are taken on gpu " + occupant.gpu_uuid + ": " + what});
  }
  unhooked_ = std::move(unhooked);
  return held;
}

void NodeServices::TellOfFaults() {
  auto faults = gpus_.faults();
  for (const auto& [uuid, fault] : faults) {
    const auto before = faults_.find(uuid);
    if (before != faults_.end() && before->second == fault) continue;
    events_.Tell({.regarding = {"Node", "", settings_.name, settings_.name},
                  .reason = "SlotsWithheld",
                  .action = "WithholdSlots",
                  .note = "gpu " + uuid + ": " + fault});
  }
  faults_ = std::move(faults);
}

// A version is used as long as the kubelet would answer a container with it again. It forgets those of pods
// that are gone.
void NodeServices::CollectOldLibraries() const {
  const auto kubelet = ReadKubelet();
  if (!kubelet) return;
  std::string answers;
  for (const HandedOut& entry : kubelet->handed_out) answers += entry.answer + "\n";
  std::string current;
  {
    const std::lock_guard lock(mutex_);
    current = live_.allocation.library_directory;
  }
  for (const std::string& removed : CollectLibraries(settings_.host_directory, current, answers, kLeastAge))
    logging::Info(removed + ": no container has this version any more: removed");
}

}  // namespace crossover::deviceplugin

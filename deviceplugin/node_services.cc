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
#include "deviceplugin/pods/slot_uuid.h"
#include "deviceplugin/sharing/outside_mps.h"
#include "deviceplugin/switches/limits.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kPatience{200};  // the kubelet admits no other pod meanwhile
constexpr std::chrono::seconds kPeriod{1};
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
      sharing_({settings.mps_directory + "/pipe", settings.mps_control}, settings.live.sharing,
               [pods = around.pods] { return pods->All(); }),
      live_(settings.live),
      gpus_({.slots_per_gpu = Slots(live_), .quiet = std::chrono::seconds(live_.quiet_after_error_s)},
            &devices_),
      service_(&devices_, AllocationNow(), [this](std::size_t slots) { return AssignmentOfNext(slots); }),
      check_([this](kube::Event event) { events_.Tell(std::move(event)); }),
      pods_(settings.api_server, "/api/v1/pods?fieldSelector=spec.nodeName%3D" + settings.name, around.pods),
      namespaces_(settings.api_server, "/api/v1/namespaces", around.namespaces,
                  kube::ListWatch::Wanted::kMetadata),
      own_node_(settings.api_server, "/api/v1/nodes?fieldSelector=metadata.name%3D" + settings.name, &node_),
      occupants_({.gpu_uuids = [this] { return Uuids(); },
                  .known = [this] { return KnownOccupants(); },
                  .library = "libcrossover.so"}),
      plugin_({plugins_, base::kSlotResource}, &service_),
      choice_in_force_(sharing_.state().choice),
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

// Which containers have had theirs.
PodTable::Done NodeServices::NoteDone(const Checkpoint& kubelet) const {
  PodTable::Done done;
  for (const HandedOut& entry : kubelet.handed_out) done.emplace(entry.pod_uid, entry.container);
  return around_.pods->EverDone(done);
}

// Of the container that the kubelet admits now.
std::vector<std::string> NodeServices::AssignmentOfNext(std::size_t slots) const {
  const PodTable::Done done = NoteDone(ReadKubelet().value_or(Checkpoint()));
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
  for (const HandedOut& entry : kubelet->handed_out) {
    for (const std::string& id : entry.ids) known.holders.emplace(entry.pod_uid, UuidOfSlot(id));
  }
  for (const auto& member : around_.books->Members()) known.clients.emplace(member->pid, member->gpu->uuid);
  return known;
}

void NodeServices::Round() {
  if (around_.config->Changed()) around_.daemon->RequestReload();
  const SharingChoice choice = sharing_.state().choice;
  if (std::exchange(choice_in_force_, choice) != choice) PutIntoForce();
  const Checkpoint kubelet = ReadKubelet().value_or(Checkpoint());
  NoteDone(kubelet);
  if (pods_.synced()) CheckKubelet(kubelet);
  Restrain(kubelet);
  TellOfFaults();
}

void NodeServices::CheckKubelet(const Checkpoint& kubelet) {
  const auto again = check_.Look(around_.pods->All(), kubelet.handed_out, base::MonotonicNs());
  for (const Pod& pod : again) Restart(pod);
}

void NodeServices::Restart(const Pod& pod) {
  const kube::Response response = client_.Send(
      {.method = "DELETE",
       .path = "/api/v1/namespaces/" + pod.name_space + "/pods/" + pod.name,
       .body = R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":")" + pod.uid + "\"}}"});
  const bool done = response.status == 200 || response.status == 202;
  logging::Warn("pod " + NameOf(pod) +
                (done
                     ? " is made anew: it must not stay on its GPU"
                     : " was not deleted: status " + std::to_string(response.status) + " " + response.error));
}

// What must not be given out, and where no turns may be taken.
void NodeServices::Restrain(const Checkpoint& kubelet) {
  const OwnNode::Wishes wishes = node_.wishes();
  std::map<std::string, std::string> withheld = FindRivals(kubelet.registered, node_.allocatable(), Uuids());
  for (const auto& [uuid, who] : occupants_.verdicts().strangers) withheld.emplace(uuid, "used by " + who);
  const SharingChoice choice = sharing_.state().choice;
  if (choice.sharing == Sharing::kMps && pods_.synced())
    withheld.merge(FindOutsideMps(around_.pods->All(), kubelet.handed_out));
  gpus_.Withhold(std::move(withheld), wishes.maintenance ? "the node is in maintenance" : choice.withheld);

  const arbiter::Policy cluster = settings_.name_space.empty()
                                      ? arbiter::Policy::kEnforce
                                      : around_.namespaces->ModeOf(settings_.name_space);
  TurnLimits limits = LimitsOf(wishes, cluster, settings_.name_space);
  limits.held = check_.held();
  limits.held.merge(HeldByUnhooked());
  around_.daemon->Limit(std::move(limits));
}

std::map<std::string, std::string> NodeServices::HeldByUnhooked() {
  std::map<std::string, std::string> held;
  std::set<std::pair<pid_t, std::string>> unhooked;
  for (const Occupant& occupant : occupants_.verdicts().unhooked) {
    const auto pod = around_.pods->Find(*occupant.pod_uid);
    const std::string name = pod ? NameOf(*pod) : *occupant.pod_uid;
    const std::string what = occupant.program + " of pod " + name + " uses it and takes no part" +
                             (occupant.has_library ? "" : ": the library is not in it");
    held.emplace(occupant.gpu_uuid, what);
    unhooked.emplace(occupant.pid, occupant.gpu_uuid);
    if (!pod || unhooked_.contains({occupant.pid, occupant.gpu_uuid})) continue;
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

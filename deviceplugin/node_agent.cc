#include "deviceplugin/node_agent.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/base/clock.h"
#include "common/base/names.h"
#include "common/logging/log.h"
#include "deviceplugin/inventory/allocated_slots.h"
#include "deviceplugin/library_installer/library_store.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kPatience{200};  // the kubelet admits no other pod meanwhile
constexpr std::chrono::milliseconds kPeriod{500};
constexpr std::chrono::minutes kLibraryPeriod{10};
// A library version stays at least this long after it was last installed: another daemon may have begun to
// hand it out.
constexpr std::chrono::hours kLeastAge{1};
constexpr char kReporter[] = CROSSOVER_DOMAIN "/deviceplugin";

}  // namespace

NodeAgent::NodeAgent(const NodeSettings& settings, const Dependencies& around)
    : settings_(settings),
      around_(around),
      plugins_(settings.kubelet_directory + "/device-plugins"),
      kubelet_(plugins_, base::kSlotResource),
      evictor_(settings.api_server),
      events_(settings.api_server, kReporter, settings.name),
      metrics_access_(settings.api_server),
      node_([this] { OnSpec(); }),
      sharing_(
          {settings.mps_pipe_directory(), settings.mps_control}, settings.live.sharing,
          [pods = around.pods] { return pods->All(); }, settings.cgroup_root),
      live_(settings.live),
      gpus_({.live = LiveOfGpus(),
             .withheld =
                 base::WithheldReason{base::Withheld::kNotKnownYet, "it is not known yet who else uses it"}},
            &devices_),
      service_(&devices_, AllocationNow(), [this](std::size_t slots) { return AssignmentOfNext(slots); }),
      check_([this](kube::Event event) { events_.Tell(std::move(event)); }),
      pods_(settings.api_server, "/api/v1/pods?fieldSelector=spec.nodeName%3D" + settings.name, around.pods,
            kube::ListWatch::Options{.from_cache = true}),
      namespaces_(settings.api_server, "/api/v1/namespaces", around.namespaces,
                  kube::ListWatch::Wanted::kMetadata),
      own_node_(settings.api_server, "/api/v1/nodes?fieldSelector=metadata.name%3D" + settings.name, &node_),
      dra_(settings.api_server, settings.name),
      gpu_processes_(
          {.gpu_uuids = [this] { return Uuids(); },
           .known = [this] { return KnownGpuProcesses(); },
           .on_judged = [this](const ProcessClassifier::Verdicts& verdicts) { OnJudged(verdicts); },
           .library = "libcrossover.so",
           .cgroup_root = settings.cgroup_root}),
      plugin_({plugins_, base::kSlotResource}, &service_),
      publisher_(
          settings.api_server, [this] { return Report(); },
          [this] { jobs_.NotePublished(base::MonotonicNs()); }),
      marker_(
          settings.api_server, settings.name, settings.marks, [this] { return MarksNow(); },
          [this](bool again) { OnLabelsTakenBack(again); }),
      task_("xo-node", kPeriod, [this] { Round(); }),
      library_task_("xo-library", kLibraryPeriod, [this] { CollectOldLibraries(); }) {
  // Clients of a daemon that this one replaces may connect before the first round. The slots must be known by
  // then.
  if (const auto kubelet = kubelet_.Read()) around_.slots->Set(HoldersOf(kubelet->handed_out));
}

int NodeAgent::MetricsStatusFor(const std::string& authorization) {
  constexpr int kOk = 200;
  if (settings_.metrics_readers == MetricsReaders::kEverybody) return kOk;
  return metrics_access_.StatusFor(authorization);
}

void NodeAgent::Apply(const NodeLiveSettings& live) {
  std::string error;
  const auto library = InstallLibrary(live.library, settings_.host_directory, &error);
  if (!library)
    logging::Error(
        "the daemon cannot update the library for containers, and keeps the one that is installed: " + error);
  {
    const std::lock_guard lock(mutex_);
    const AllocationSettings before = std::exchange(live_, live).allocation;
    live_.allocation.library_directory = library.value_or(before.library_directory);
    live_.allocation.socket_directory = before.socket_directory;
  }
  sharing_.Want(live.sharing);
  PutIntoForce();
}

std::uint32_t NodeAgent::Slots(const NodeLiveSettings& live) const {
  return sharing_.state().strategy.sharing == Sharing::kExclusive ? 1 : live.slots_per_gpu;
}

// Returns the settings of the GpuWatch that are in force. REQUIRES: mutex_ is held, or no other thread runs.
GpuWatch::Live NodeAgent::LiveOfGpus() const {
  return {.slots_per_gpu = Slots(live_),
          .quiet = std::chrono::seconds(live_.quiet_after_error_s),
          .memory_bytes = live_.gpu_memory_bytes,
          .numa = live_.numa};
}

AllocationSettings NodeAgent::AllocationNow() const {
  const std::lock_guard lock(mutex_);
  AllocationSettings allocation = live_.allocation;
  if (cdi_.own) allocation.cdi_kind = kOwnCdiKind;
  if (sharing_.state().strategy.sharing == Sharing::kMps) allocation.mps_directory = settings_.mps_directory;
  return allocation;
}

void NodeAgent::PutIntoForce() {
  const std::lock_guard one_at_a_time(force_mutex_);
  service_.Set(AllocationNow());
  KeepAllocatedSlots();  // before their number shrinks
  const std::lock_guard lock(mutex_);
  gpus_.Set(LiveOfGpus());
}

void NodeAgent::KeepAllocatedSlots() {
  const auto kubelet = kubelet_.Read();
  if (kubelet && pods_.synced()) gpus_.Keep(FindAllocatedSlots(around_.pods->All(), kubelet->handed_out));
}

// Runs on the thread of the node's watch. Handles the named configuration only; the next round handles the
// rest.
void NodeAgent::OnSpec() {
  const std::string choice = node_.spec().configuration;
  if (std::exchange(choice_, choice) != choice) around_.daemon->RequestReload();
}

// Notes which pods hold which slots. Returns the containers that have got theirs (PodTable::EverDone).
PodTable::Done NodeAgent::NoteDone(const Checkpoint& kubelet) const {
  PodTable::Done done;
  for (const DeviceAllocation& entry : kubelet.handed_out) done.emplace(entry.pod_uid, entry.container);
  around_.slots->Set(HoldersOf(kubelet.handed_out));
  return around_.pods->EverDone(done);
}

// Returns the GPUs assigned to the container that the kubelet admits now, which asks for `slots`. Waits up
// to kPatience until its pod is known.
std::vector<std::string> NodeAgent::AssignmentOfNext(std::size_t slots) const {
  const auto kubelet = kubelet_.Read();
  const PodTable::Done done = kubelet ? NoteDone(*kubelet) : around_.pods->EverDone({});
  if (pods_.synced()) around_.pods->AwaitOne(slots, done, kPatience);
  return around_.pods->AssignedTo(slots, done);
}

std::vector<std::string> NodeAgent::Uuids() const {
  std::vector<std::string> uuids;
  for (const auto& [uuid, gpu] : devices_.gpus()) uuids.push_back(uuid);
  return uuids;
}

std::optional<ProcessClassifier::Known> NodeAgent::KnownGpuProcesses() const {
  const auto kubelet = kubelet_.Read();
  if (!kubelet || !pods_.synced()) return std::nullopt;
  const SharingWatch::State sharing = sharing_.state();
  // Before MPS has been asked for its servers, these would count as strangers.
  if (sharing.mps.alive && !sharing.asked) return std::nullopt;
  ProcessClassifier::Known known;
  known.holders = HoldersOf(kubelet->handed_out);
  known.mps_servers = sharing.servers;
  for (const Pod& pod : around_.pods->All()) {
    if (!settings_.name_space.empty() && pod.name_space == settings_.name_space)
      known.own_pods.insert(pod.uid);
  }
  for (const auto& member : around_.stats_store->Members())
    known.clients.emplace(member->pid, member->gpu->uuid);
  return known;
}

// Removes library versions that are not used any more. A version is used as long as the kubelet could give
// it to a container again. The kubelet forgets its answers for pods that are gone.
void NodeAgent::CollectOldLibraries() const {
  const auto kubelet = kubelet_.Read();
  if (!kubelet) return;
  std::string answers;
  for (const DeviceAllocation& entry : kubelet->handed_out) answers += entry.answer + "\n";
  std::string current;
  {
    const std::lock_guard lock(mutex_);
    current = live_.allocation.library_directory;
  }
  for (const std::string& removed : CollectLibraries(settings_.host_directory, current, answers, kLeastAge))
    logging::Info(removed + ": no container has this version any more: removed");
}

}  // namespace crossover::deviceplugin

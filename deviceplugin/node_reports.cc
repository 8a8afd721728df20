// Implements what a node's services report: metrics, missing services, and the GPUNode object.
#include <ctime>
#include <utility>

#include "common/base/clock.h"
#include "deviceplugin/gpu_processes/notices.h"
#include "deviceplugin/node_agent.h"
#include "deviceplugin/pods/slot_uuid.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {
namespace {

// Returns the requests of pods that the extender does not watch.
kube::Requests RequestedBy(const std::vector<Pod>& pods) {
  kube::Requests requested;
  std::int64_t count = 0;
  for (const Pod& pod : pods) {
    if (pod.over || pod.managed) continue;
    requested += pod.requests;
    ++count;
  }
  requested.others[kube::kPods] = count;
  return requested;
}

}  // namespace

std::shared_ptr<prometheus::Collectable> NodeAgent::metrics() {
  return std::make_shared<NodeMetrics>([this] {
    NodeState state = State();
    state.mps_shm = RoomInShm(settings_.mps_shm_directory());
    return state;
  });
}

MpsNews NodeAgent::Mps() {
  const SharingWatch::State sharing = sharing_.state();
  return {
      .fault = sharing.fault, .unasked = sharing.unasked, .shm = RoomInShm(settings_.mps_shm_directory())};
}

std::vector<std::string> NodeAgent::Missing() { return deviceplugin::Missing(State()); }

NodeState NodeAgent::State() const {
  NodeState state;
  for (const auto& [uuid, gpu] : devices_.gpus())
    state.gpus[uuid] = {.slots = gpu.slots, .healthy = gpu.healthy};
  if (const auto kubelet = kubelet_.Read(); kubelet && pods_.synced()) {
    const auto by_gpu = HoldersByGpu(*kubelet);
    for (auto& [uuid, gpu] : state.gpus) {
      const auto holders = by_gpu.find(uuid);
      gpu.used = holders == by_gpu.end() ? 0 : api::UsedSlots(holders->second);
    }
  }
  state.xids = gpus_.xids();
  const Plugin::Status plugin = plugin_.status();
  state.registered = plugin.registered;
  state.registrations = plugin.registrations;
  state.registration_failures = plugin.failures;
  state.allocations = service_.allocations();
  state.refusals = service_.refusals();
  state.pods_known = pods_.synced();
  state.namespaces_known = namespaces_.synced();
  state.node_known = own_node_.synced();
  state.pods = around_.pods->All().size();
  const KubeletCheck::Found found = check_.found();
  state.drifts = found.drifts.size();
  state.collisions = found.collisions.size();
  state.doubles = found.doubles.size();
  state.evictions = evictor_.accepted();
  state.refused_evictions = evictor_.refused();
  state.mistyped_switches = mistyped_.counts();
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [uuid, names] : pods_of_competitors_)
      state.gpus[uuid].pods_of_competitors = names.size();
  }
  const ProcessClassifier::Verdicts verdicts = gpu_processes_.verdicts();
  for (const auto& [uuid, who] : verdicts.strangers) state.gpus[uuid].used_by_others = true;
  const ModeSwitch::State mode = around_.modes->mode();
  for (const GpuProcess& gpu_process : verdicts.unhooked) {
    const auto pod = around_.pods->Find(*gpu_process.pod_uid);
    const bool alone = pod && SharesWithNone(*pod) && !mode.limits.held.contains(gpu_process.gpu_uuid);
    if (alone || (pod && IsOff(*pod))) continue;  // the process takes no part on purpose
    NodeState::Gpu& gpu = state.gpus[gpu_process.gpu_uuid];
    ++gpu.unhooked;
    if (gpu_process.has_library) ++gpu.silent;
  }
  for (const auto& [uuid, why] : mode.limits.held) state.gpus[uuid].held = true;
  state.mode = mode.in_force;
  const SharingWatch::State sharing = sharing_.state();
  state.sharing = std::string(Name(sharing.strategy.sharing));
  state.mps_alive = sharing.mps.alive;
  state.mps_accepts = sharing.mps.alive && sharing.fault.empty();
  state.mps_terminated = sharing.terminated;
  state.maintenance = node_.spec().maintenance;
  const ConfigFile::State config = around_.config->state();
  state.config_valid = config.valid;
  state.configuration = config.chosen;
  state.events_lost = events_.lost();
  state.publish_failures = publisher_.failures();
  return state;
}

// Notes what each client has learned, under the profile key of its pod.
void NodeAgent::LookAtJobs() {
  const auto key_of = [this](const arbiter::Member& member) {
    const auto pod = around_.pods->Find(member.pod_uid);
    return pod ? pod->profile_key : std::string();
  };
  jobs_.Look(around_.stats_store->Ranks(), around_.stats_store->Gpus(), key_of,
             {.monotonic = base::MonotonicNs(), .wall_s = std::time(nullptr)});
}

std::uint64_t NodeAgent::LinkNow() {
  const auto said_gbps = [this] {
    const std::lock_guard lock(mutex_);
    return live_.link_gbps;
  };
  return link_.BytesPerSecond(said_gbps(), base::MonotonicNs());
}

std::optional<GpuNode> NodeAgent::Report() {
  LookAtJobs();
  const auto kubelet = kubelet_.Read();
  if (!kubelet || !looked_ || !pods_.synced()) return std::nullopt;
  const ModeSwitch::State mode = around_.modes->mode();
  const OwnNode::NodeSpec spec = node_.spec();
  const SharingWatch::State sharing = sharing_.state();
  GpuNode report{.name = settings_.name,
                 .mode = std::string(PolicyName(mode.in_force)),
                 .maintenance = spec.maintenance,
                 .sharing = std::string(Name(sharing.strategy.sharing)),
                 .multi_user = sharing.mps.options.multi_user,
                 .link_bytes_per_s = static_cast<double>(LinkNow()),
                 .gpus = {},
                 .requested = RequestedBy(around_.pods->All()),
                 .jobs = jobs_.Jobs(),
                 .node_uid = node_.uid(),
                 .version = CROSSOVER_VERSION,
                 .mode_limited_by = mode.limits.by,
                 .configuration = around_.config->state().chosen,
                 .sharing_reason = sharing.strategy.reason,
                 .mps_served = sharing.served};
  const auto faults = gpus_.faults();
  const auto of_unknown_memory = gpus_.of_unknown_memory();
  std::map<std::string, std::vector<GpuNode::Holder>> holders = HoldersByGpu(*kubelet);
  const signals::ByGpu signals = around_.signals();
  const auto advertised = devices_.gpus();
  for (const NvmlLibrary::Gpu& gpu : gpus_.gpus()) {
    const auto found = advertised.find(gpu.uuid);
    const auto fault = faults.find(gpu.uuid);
    const auto held = mode.limits.held.find(gpu.uuid);
    const auto of_gpu = signals.find(gpu.uuid);
    GpuNode::Gpu& shown = report.gpus.emplace_back();
    shown.uuid = gpu.uuid;
    shown.model = gpu.name;
    shown.memory = gpu.memory_bytes.value_or(0);
    shown.slots = found == advertised.end() ? 0 : static_cast<int>(found->second.slots);
    SetHealth(fault == faults.end() ? std::nullopt : std::optional(fault->second),
              of_unknown_memory.contains(gpu.uuid), &shown);
    if (held != mode.limits.held.end()) shown.notes.Edit().no_turns = held->second;
    shown.holders = std::move(holders[gpu.uuid]);
    if (of_gpu != signals.end()) shown.notes.Edit().signals = SignalsOf(of_gpu->second);
  }
  return report;
}

std::optional<NodeMarks> NodeAgent::MarksNow() const {
  const auto kubelet = kubelet_.Read();
  if (!kubelet || !pods_.synced() || !own_node_.synced()) return std::nullopt;
  return NodeMarks{.labels = node_.labels(),
                   .scale_down = node_.scale_down(),
                   .slots_held = !HoldersByGpu(*kubelet).empty()};
}

std::map<std::string, std::vector<GpuNode::Holder>> NodeAgent::HoldersByGpu(const Checkpoint& kubelet) const {
  std::map<std::string, std::vector<GpuNode::Holder>> by_gpu;
  for (const DeviceAllocation& entry : kubelet.handed_out) {
    const auto pod = around_.pods->Find(entry.pod_uid);
    if (!pod || pod->over) continue;
    std::map<std::string, std::set<std::string>> slots;
    for (const std::string& id : entry.ids) slots[UuidOfSlot(id)].insert(id);
    for (const auto& [uuid, ids] : slots) {
      by_gpu[uuid].push_back({.name_space = pod->name_space,
                              .pod = pod->name,
                              .container = entry.container,
                              .slots = ids,
                              .gang = GangOf(*pod)});
    }
  }
  return by_gpu;
}

}  // namespace crossover::deviceplugin

// Implements the round of a node's services. Twice a second it compares the kubelet's slots with the
// placement, withholds GPUs, limits turns, and reports faults.
#include <algorithm>
#include <utility>

#include "common/base/clock.h"
#include "common/base/gpu_phrases.h"
#include "common/base/plain_reason.h"
#include "common/logging/log.h"
#include "deviceplugin/gpu_processes/notices.h"
#include "deviceplugin/inventory/allocated_slots.h"
#include "deviceplugin/inventory/competing_plugins.h"
#include "deviceplugin/inventory/node_image.h"
#include "deviceplugin/node_agent.h"
#include "deviceplugin/plugin/cdi.h"
#include "deviceplugin/reductions/silent.h"
#include "deviceplugin/sharing/pods_under_mps.h"
#include "deviceplugin/switches/limits.h"

namespace crossover::deviceplugin {

// Does one round. If something is not known now, the last result stays: lack of knowledge makes the daemon
// neither give out a GPU nor evict a pod.
void NodeAgent::Round() {
  if (around_.config->Changed()) around_.daemon->RequestReload();
  const SharingWatch::State sharing = sharing_.state();
  const SharingStrategy& strategy = sharing.strategy;
  if (strategy_in_force_ != strategy) PutIntoForce();
  strategy_in_force_ = strategy;
  LookForCdi();
  auto kubelet = kubelet_.Read();
  if (kubelet) NoteDone(*kubelet);
  if (!pods_.synced()) kubelet.reset();  // without the pods it cannot be compared
  const std::vector<Pod> pods = around_.pods->All();
  std::vector<Pod> misplaced;
  if (kubelet) misplaced = check_.Look(pods, kubelet->handed_out, base::MonotonicNs());
  LimitTurns(kubelet.get(), pods);
  WithholdGpus(kubelet.get(), pods, strategy);
  TellOfFaults();
  if (kubelet) TellOfMps(*kubelet, pods, sharing);
  if (kubelet) EmptyIdleShm(*kubelet, pods);
  TellOfSwitches(pods);
  if (pods_.synced()) TellOfReductions(pods);
  for (const Pod& pod : misplaced) {
    if (evictor_.Evict(pod)) check_.NoteMadeAnew(pod);
  }
}

// Finds out by which CDI specification containers get their GPUs, and writes one of our own if that is
// needed. Does nothing between its times. These are short, because the driver may come after this daemon:
// until its GPUs have names, containers would get names that no runtime can resolve, and keep them.
void NodeAgent::LookForCdi() {
  constexpr std::int64_t kEvery = 900'000'000;  // ns; every other round
  const std::int64_t now = base::MonotonicNs();
  if (cdi_looked_ != 0 && now - cdi_looked_ < kEvery) return;
  CdiFolder::Wanted wanted;
  {
    const std::lock_guard lock(mutex_);
    if (live_.allocation.devices != DeviceStrategy::kCdi) return;
    wanted.source = live_.cdi;
    wanted.given_kind = live_.allocation.cdi_kind;
    wanted.driver_root = live_.allocation.driver_root;
  }
  cdi_looked_ = now;
  for (const NvmlLibrary::Gpu& gpu : gpus_.gpus()) {
    if (!gpu.mig) wanted.gpus.push_back({gpu.uuid, gpu.minor});
  }
  CdiFolder::State state = cdi_folder_.Look(wanted);
  {
    const std::lock_guard lock(mutex_);
    if (state == cdi_) return;
    cdi_ = std::move(state);
  }
  service_.Set(AllocationNow());
}

// Withholds GPUs. `kubelet` is null if it is not known which pods have which slots.
void NodeAgent::WithholdGpus(const Checkpoint* kubelet, const std::vector<Pod>& pods,
                             const SharingStrategy& strategy) {
  if (kubelet != nullptr) {
    gpus_.Keep(FindAllocatedSlots(pods, kubelet->handed_out));
    sharing_.NoteNeed(AnyUnderMps(pods, kubelet->handed_out));
  }
  if (kubelet != nullptr && own_node_.synced() && dra_.known()) {
    withheld_ = FindOthers(*kubelet, pods, strategy.sharing);
    looked_ = true;
  }
  if (!looked_) return;
  const auto why_none = WhyNone();
  gpus_.Withhold(withheld_, why_none ? why_none : strategy.withheld);
  const std::vector<std::string> uuids = Uuids();
  sharing_.NoteOffers(!why_none && std::any_of(uuids.begin(), uuids.end(), [this](const auto& uuid) {
    return !withheld_.contains(uuid);
  }));
}

// Returns why the daemon gives out no GPU, whichever way GPUs are shared, if there is a reason.
std::optional<base::WithheldReason> NodeAgent::WhyNone() const {
  if (node_.spec().maintenance)
    return base::WithheldReason{base::Withheld::kMaintenance, base::kInMaintenance};
  if (AllocationNow().devices != DeviceStrategy::kCdi) return std::nullopt;
  std::string why = WhyNoCdi(node_.runtime());
  if (why.empty()) {
    const std::lock_guard lock(mutex_);
    why = cdi_.why;
  }
  if (why.empty()) return std::nullopt;
  return base::WithheldReason{base::Withheld::kNoCdi, std::move(why)};
}

// Returns the GPUs that others use, and that this daemon therefore must not give out, with the reason.
std::map<std::string, base::WithheldReason> NodeAgent::FindOthers(const Checkpoint& kubelet,
                                                                  const std::vector<Pod>& pods,
                                                                  Sharing sharing) {
  using base::Withheld, base::WithheldReason;
  const std::vector<std::string> uuids = Uuids();
  auto others = FindCompetingPlugins(kubelet.registered, node_.allocatable(), uuids);
  const std::string remedy = RemedyFor(node_.os_image(), node_.labels());
  for (auto& [uuid, why] : others) why.text += remedy;
  auto pods_of_competitors = FindPodsOfCompetingPlugins(kubelet.by_others, pods, uuids);
  for (const auto& [uuid, names] : pods_of_competitors) {
    others.emplace(
        uuid, WithheldReason{Withheld::kOtherPlugin,
                             std::string(base::kSaysOtherPlugin) + " has given it to pod " + *names.begin()});
  }
  others.merge(dra_.Find(uuids, base::MonotonicNs()));
  for (const auto& [uuid, who] : gpu_processes_.verdicts().strangers)
    others.emplace(uuid, WithheldReason{Withheld::kForeignProcess, ProcessClassifier::Describe(who)});
  if (sharing != Sharing::kExclusive)  // a pod with the only slot is alone
    others.merge(FindOtherSharing(pods, kubelet.handed_out, sharing == Sharing::kMps));
  const std::lock_guard lock(mutex_);
  pods_of_competitors_ = std::move(pods_of_competitors);
  return others;
}

// Sets the limits on turns. `kubelet` is null if it is not known which pods have which slots.
void NodeAgent::LimitTurns(const Checkpoint* kubelet, const std::vector<Pod>& pods) {
  const arbiter::Policy cluster = settings_.name_space.empty()
                                      ? arbiter::Policy::kEnforce
                                      : around_.namespaces->ModeOf(settings_.name_space);
  TurnLimits limits = LimitsOf(node_.spec(), cluster, settings_.name_space);
  if (!own_node_.synced()) limits.maintenance.reset();
  limits.held = check_.held();
  if (kubelet != nullptr) held_by_unhooked_ = HeldByUnhooked(*kubelet, pods);
  for (const auto& [uuid, why] : held_by_unhooked_) limits.held.emplace(uuid, why);
  around_.daemon->Limit(std::move(limits));
}

bool NodeAgent::IsOff(const Pod& pod) const {
  return ModeIn(pod.annotations) == arbiter::Policy::kOff ||
         around_.namespaces->ModeOf(pod.name_space) == arbiter::Policy::kOff;
}

std::map<std::string, std::string> NodeAgent::HeldByUnhooked(const Checkpoint& kubelet,
                                                             const std::vector<Pod>& pods) {
  UnhookedNotices notices = NoticesOf(gpu_processes_.verdicts().unhooked, pods, HoldersOf(kubelet.handed_out),
                                      [this](const Pod& pod) { return IsOff(pod); });
  for (const auto& [uuid, why] : notices.held) {
    const auto before = held_by_unhooked_.find(uuid);
    if (before == held_by_unhooked_.end() || before->second != why)
      logging::Warn("no turns are taken on gpu " + uuid + ": " + why);
  }
  TellNews({notices.events.begin(), notices.events.end()}, &told_of_unhooked_);
  return std::move(notices.held);
}

// Notes the verdicts of a look at the processes. Runs on the thread of the GpuProcessWatch. Only the log
// names the processes: other reports must not change while the fault stays the same.
void NodeAgent::OnJudged(const ProcessClassifier::Verdicts& verdicts) {
  std::set<std::pair<pid_t, std::string>> named;
  const auto name = [&](const GpuProcess& gpu_process, const char* what) {
    const std::pair key(gpu_process.pid, gpu_process.gpu_uuid);
    named.insert(key);
    if (named_in_log_.contains(key)) return;
    logging::Warn("process " + std::to_string(gpu_process.pid) + " (" + gpu_process.program + ") uses gpu " +
                  gpu_process.gpu_uuid + what);
  };
  UnregisteredProcesses unregistered;
  for (const auto& [uuid, stranger] : verdicts.strangers) {
    name(stranger, " and has no slot of this GPU");
    unregistered.found_out.insert(uuid);
  }
  for (const GpuProcess& gpu_process : verdicts.unhooked) {
    name(gpu_process, " and takes no part in turns");
    unregistered.found_out.insert(gpu_process.gpu_uuid);
    if (const auto pod = around_.pods->Find(*gpu_process.pod_uid)) unregistered.gangs.insert(GangOf(*pod));
  }
  for (const GpuProcess& gpu_process : verdicts.unregistered)
    unregistered.processes.emplace(gpu_process.pid, gpu_process.gpu_uuid);
  named_in_log_ = std::move(named);
  around_.stats_store->NoteUnregistered(std::move(unregistered));
}

void NodeAgent::TellOfFaults() {
  auto faults = gpus_.faults();
  for (const auto& [uuid, fault] : faults) {
    const auto before = faults_.find(uuid);
    if (before != faults_.end() && before->second == fault) continue;
    events_.Tell({.regarding = {"Node", "", settings_.name, settings_.name},
                  .reason = "SlotsWithheld",
                  .action = "WithholdSlots",
                  .note = "gpu " + uuid + ": " + fault.text});
  }
  faults_ = std::move(faults);
  std::set<std::string> unknown = gpus_.of_unknown_memory();
  for (const std::string& uuid : unknown) {
    if (of_unknown_memory_.contains(uuid)) continue;
    events_.Tell({.regarding = {"Node", "", settings_.name, settings_.name},
                  .reason = "MemoryUnknown",
                  .action = "Advertise",
                  .note = "gpu " + uuid + ": " + std::string(base::kMemoryUnknownText)});
  }
  of_unknown_memory_ = std::move(unknown);
}

// Tells that the GPU Operator has changed its labels on this node. Runs on the thread of the NodeMarker.
void NodeAgent::OnLabelsTakenBack(bool again) {
  events_.Tell({.regarding = {"Node", "", settings_.name, settings_.name},
                .reason = "OperatorTakesNode",
                .action = "LabelNode",
                .note = std::string("labels nvidia.com/gpu.deploy.*: expected false, with which the GPU "
                                    "Operator keeps its plugin off this node, got others, or none; ") +
                        (again ? "the daemon sets them again"
                               : "the daemon has tried five times within an hour to set them, and waits: "
                                 "look for the program that changes them, and in the log of the daemon for "
                                 "why it cannot write them")});
}

// Sends events to pods under MPS: while MPS takes no new clients, because a program that begins in them then
// fails or hangs; once for each server of MPS that has ended; and to pods that hide the common /dev/shm.
void NodeAgent::TellOfMps(const Checkpoint& kubelet, const std::vector<Pod>& pods,
                          const SharingWatch::State& sharing) {
  std::set<kube::Event> events = MpsNotices(pods, kubelet.handed_out, sharing.strategy);
  events.merge(ShmNotices(pods, kubelet.handed_out));
  TellNews(std::move(events), &told_of_mps_);
  recent_mps_pods_.OnLook(pods, kubelet.handed_out, base::MonotonicNs());
  if (sharing.losses == told_losses_) return;
  told_losses_ = sharing.losses;
  for (const kube::Event& event : recent_mps_pods_.LossNotices(sharing.lost_server)) events_.Tell(event);
}

// Sends those events that are not in `*told`, and then stores `events` there.
void NodeAgent::TellNews(std::set<kube::Event> events, std::set<kube::Event>* told) {
  for (const kube::Event& event : events) {
    if (!told->contains(event)) events_.Tell(event);
  }
  *told = std::move(events);
}

// Removes the files that pods under MPS have left in their common /dev/shm, after the last of them has ended.
void NodeAgent::EmptyIdleShm(const Checkpoint& kubelet, const std::vector<Pod>& pods) {
  const bool in_use = AnyUnderMps(pods, kubelet.handed_out);
  if (!shm_idle_.Passed(kubelet.handed_out, in_use, base::MonotonicNs())) return;
  const std::size_t removed = EmptyShm(settings_.mps_shm_directory());
  if (removed > 0)
    logging::Info(settings_.mps_shm_directory() + ": no pod under MPS is on the node: " +
                  std::to_string(removed) + " files and folders that pods left were removed");
}

void NodeAgent::TellOfSwitches(const std::vector<Pod>& pods) {
  std::vector<std::string> of_node = node_.faults();
  if (const std::string fault = around_.config->state().fault; !fault.empty()) of_node.push_back(fault);
  const Mistyped::Switches switches = {.pods = pods,
                                       .namespaces = around_.namespaces->faults(),
                                       .node = settings_.name,
                                       .of_node = std::move(of_node)};
  for (kube::Event& event : mistyped_.Look(switches)) events_.Tell(std::move(event));
}

// Tells each pod whose owner asks for compressed reductions why some of them are plain.
void NodeAgent::TellOfReductions(const std::vector<Pod>& pods) {
  for (const SilentClient& silent : SilentAmong(around_.stats_store->Ranks(), pods))
    around_.stats_store->NotePlain(*silent.member, silent.asked, base::PlainReason::kNotSeen);
  std::vector<ReductionsView> views = around_.stats_store->TakeReductionsOfLeft();
  for (ReductionsView& view : around_.stats_store->Reductions()) views.push_back(std::move(view));
  for (kube::Event& event : plain_notices_.Look(views, pods)) {
    logging::Warn("pod " + event.regarding.name_space + "/" + event.regarding.name + ": " + event.note);
    events_.Tell(std::move(event));
  }
}

}  // namespace crossover::deviceplugin

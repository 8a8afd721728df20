#include "extender/gang/snapshot.h"

#include <algorithm>
#include <memory>
#include <set>

#include "common/base/names.h"
#include "extender/cluster/resources.h"
#include "extender/gang/demands.h"
#include "extender/gang/node_places.h"
#include "extender/gang/request.h"
#include "extender/placement/users.h"
#include "extender/profiles/observed.h"

namespace crossover::extender {
namespace {

using ByNode = std::map<std::string, std::set<std::string>>;

// Returns the GPUs that the pod has, as its node's daemon reports them.
PodSeat ActualOf(const ClusterCache& cache, const Pod& pod) {
  PodSeat actual{.node = pod.node, .containers = {}};
  const GpuNode* node = cache.FindGpuNode(pod.node);
  if (node == nullptr) return actual;
  for (const GpuNode::Gpu& gpu : node->gpus) {
    for (const GpuNode::Holder& holder : gpu.holders) {
      if (holder.name_space == pod.name_space && holder.pod == pod.name) {
        actual.containers[holder.container].push_back(gpu.uuid);
      }
    }
  }
  return actual;
}

void Add(const PodSeat& seat, ByNode* seats) {
  for (const std::string& gpu : seat.gpus()) (*seats)[seat.node].insert(gpu);
}
void Add(const placement::Seat& seat, ByNode* seats) {
  (*seats)[seat.node].insert(seat.gpus.begin(), seat.gpus.end());
}

placement::Node NodeOf(const GangStore& store, const GpuNode& gpus) {
  const Node* node = store.cache->FindNode(gpus.name);
  placement::Node result{.name = gpus.name, .domains = {}, .gpus = {}};
  result.open = node != nullptr && node->ready && !node->cordoned && !gpus.maintenance;
  result.link = gpus.link_bytes_per_s;
  result.one_user = gpus.sharing == "mps" && !gpus.multi_user;
  if (node != nullptr) result.domains = DomainsOf(*node, store.settings.domains);
  for (const GpuNode::Gpu& gpu : gpus.gpus) {
    result.gpus.push_back({.uuid = gpu.uuid,
                           .memory = gpu.memory,
                           .slots = gpus.sharing == "exclusive" ? std::min(gpu.slots, 1) : gpu.slots,
                           .healthy = gpu.healthy && gpu.withheld.empty(),
                           .model = gpu.model});
  }
  return result;
}

// Adds pods that hold GPUs and belong to no gang. Each becomes a gang of one pod that shares with no other.
void AddStrangers(const GangStore& store, placement::State* state) {
  std::set<std::pair<std::string_view, std::string_view>> ours;
  for (const auto& [uid, id] : store.gang_of) {
    const Pod* pod = store.cache->FindPod(uid);
    if (pod != nullptr && !pod->over) ours.emplace(pod->name_space, pod->name);
  }
  std::map<std::string, ByNode> strangers;
  for (const auto& [name, node] : store.cache->gpu_nodes()) {
    for (const GpuNode::Gpu& gpu : node.gpus) {
      for (const GpuNode::Holder& holder : gpu.holders) {
        if (ours.contains({holder.name_space, holder.pod})) continue;
        strangers["holder " + holder.name_space + "/" + holder.pod + " " + name][name].insert(gpu.uuid);
      }
    }
  }
  for (const auto& [id, seats] : strangers) {
    placement::Placed placed;
    placed.gang.id = placed.gang.name = id;
    placed.gang.pods = 1;
    placed.gang.exclusive = true;
    for (const auto& [node, gpus] : seats) {
      placed.seats.push_back({node, {gpus.begin(), gpus.end()}});
      placed.gang.gpus_per_pod = static_cast<int>(gpus.size());
    }
    state->placed.push_back(std::move(placed));
  }
}

// Returns when the first of the pods was given its node. The API server says it, so a new leader knows it,
// too.
std::optional<double> StartOf(const std::vector<const Pod*>& pods) {
  std::optional<double> start;
  for (const Pod* pod : pods) {
    if (pod->node.empty() || pod->over || !pod->scheduled.yes || pod->scheduled.at_s <= 0) continue;
    start = std::min(start.value_or(pod->scheduled.at_s), pod->scheduled.at_s);
  }
  return start;
}

// Sets the gang's memory limit to what its pods were granted. With 0 they run without a limit, so the
// profile's peak must not count as one: no gang may share with it.
void Grant(placement::Bytes granted, placement::Gang* gang) {
  gang->memory_cap = granted;
  if (granted == 0) gang->profile.peak_memory = 0;
}

void AddGang(const GangStore& store, const GangRecord& gang, placement::State* state) {
  const std::vector<const Pod*> pods = PodsOf(store, gang);
  if (pods.empty()) return;
  for (const bool leaving : {false, true}) {
    std::vector<placement::Seat> seats = SeatsOf(store, gang, leaving);
    if (seats.empty()) continue;
    Request request = RequestOf(gang.membership, pods, std::max(1, gang.set_size()), *store.cache);
    if (gang.granted && !request.names_memory) Grant(*gang.granted, &request.gang);
    std::size_t gpus = 0;
    for (const placement::Seat& seat : seats) gpus += seat.gpus.size();
    // No gang may join one that lacks a seat, because its set of GPUs will change. The same holds while a new
    // leader does not know the gang's size yet.
    const bool lacks = gang.membership.size == 0 || static_cast<int>(gpus) != request.gang.gpus();
    const bool claims = gang.plan && gang.plan->claim;
    request.gang.exclusive |= leaving || lacks || claims || !request.fault.empty();
    if (leaving) request.gang.id += " (leaving)";
    state->placed.push_back(
        {.gang = std::move(request.gang), .seats = std::move(seats), .started_s = StartOf(pods)});
  }
}

// Subtracts what the gang's pods on a node take.
void RemovePodsOf(const GangStore& store, const std::string& gang, const std::string& node, Resources* sum) {
  const auto record = store.gangs.find(gang);
  if (record == store.gangs.end()) return;
  for (const auto& [uid, member] : record->second.members) {
    const Pod* pod = store.cache->FindPod(uid);
    if (pod != nullptr && pod->node == node && !pod->over) RemovePod(*pod, sum);
  }
}

}  // namespace

PodSeat SeatOf(const GangStore& store, const GangRecord& gang, const std::string& uid) {
  const Pod& pod = *store.cache->FindPod(uid);
  const Member& member = gang.members.at(uid);
  const PodSeat actual = ActualOf(*store.cache, pod);
  PodSeat assigned{.node = pod.node.empty() ? member.bound : pod.node,
                   .containers = ReadAssignment(AnnotationOf(pod, base::kAssignmentAnnotation))};
  if (assigned.containers.empty()) assigned.containers = member.seat.containers;
  const bool all = static_cast<int>(actual.gpus().size()) >= GpusWanted(pod);
  if (all && store.now_s > member.bound_s + store.settings.settle_s) return actual;
  for (const auto& [container, gpus] : actual.containers) {
    std::vector<std::string>& both = assigned.containers[container];
    both.insert(both.end(), gpus.begin(), gpus.end());
  }
  return assigned;
}

bool IsSound(const GangStore& store, const placement::Seat& seat) {
  const GpuNode* gpus = store.cache->FindGpuNode(seat.node);
  if (gpus == nullptr) return false;
  const placement::Node node = NodeOf(store, *gpus);
  return node.open && std::ranges::all_of(seat.gpus, [&node](const std::string& uuid) {
           const auto gpu = std::ranges::find(node.gpus, uuid, &placement::Gpu::uuid);
           return gpu != node.gpus.end() && gpu->healthy;
         });
}

std::vector<placement::Seat> SeatsOf(const GangStore& store, const GangRecord& gang, bool leaving) {
  ByNode seats;
  for (const auto& [uid, member] : gang.members) {
    const View view = ViewOf(store, uid, member);
    if (view.bound() && view.leaving() == leaving) Add(SeatOf(store, gang, uid), &seats);
    // Before Adopt() has judged the reservations of an earlier leader, all of them count.
    if (leaving || gang.adopted || !view.living() || view.bound()) continue;
    if (const auto kept = ReservationOn(*view.pod)) {
      Add(kept->seat, &seats);
    }
  }
  if (!leaving && gang.plan) {
    for (const PlanEntry& entry : gang.plan->entries) Add(entry.seat, &seats);
  }
  if (!leaving) {
    for (const Vacancy& vacancy : gang.vacant) Add(vacancy.seat, &seats);
  }
  std::vector<placement::Seat> result;
  for (const auto& [node, gpus] : seats) result.push_back({node, {gpus.begin(), gpus.end()}});
  return result;
}

placement::State SnapshotOf(const GangStore& store) {
  placement::State state;
  state.levels = store.settings.domains;
  for (const auto& [name, node] : store.cache->gpu_nodes()) state.nodes.push_back(NodeOf(store, node));
  for (const auto& [id, gang] : store.gangs) AddGang(store, gang, &state);
  AddStrangers(store, &state);
  std::vector<const JobProfile*> profiles;
  for (const auto& [name, profile] : store.cache->profiles()) profiles.push_back(&profile);
  state.observed = ObservedOf(profiles);
  return state;
}

std::map<std::string, Resources> PlannedOn(const GangStore& store) {
  std::map<std::string, Resources> planned;
  for (const auto& [id, gang] : store.gangs) {
    if (!gang.plan) continue;
    for (const PlanEntry& entry : gang.plan->entries) {
      const Pod* pod = entry.uid.empty() ? nullptr : store.cache->FindPod(entry.uid);
      if (pod != nullptr && pod->node.empty()) AddPod(*pod, &planned[entry.seat.node]);
    }
  }
  return planned;
}

placement::Fitness FitnessOf(const GangStore& store, const placement::State& state) {
  const auto earlier = std::make_shared<const std::map<std::string, Resources>>(PlannedOn(store));
  const auto fits = [&store, &state, earlier](const placement::Gang& gang, int index,
                                              std::span<const placement::Planned> planned) -> placement::Fit {
    const auto found = store.gangs.find(gang.id);
    if (found == store.gangs.end()) return placement::FitsAnywhere(gang, index, planned);
    const std::string& node = state.nodes[static_cast<std::size_t>(index)].name;
    const auto excluded = found->second.excluded.find(node);
    if (excluded != found->second.excluded.end() && store.now_s < excluded->second.until_s) {
      const std::string& why = excluded->second.why;
      return {.pods = 0, .why = "the scheduler refused the node for pods of the gang", .figures = why};
    }
    if (!store.fits) return placement::FitsAnywhere(gang, index, planned);
    const auto pod_of = [&store](const std::string& id) -> const Pod* {
      const auto record = store.gangs.find(id);
      if (record == store.gangs.end()) return nullptr;
      for (const auto& [uid, member] : record->second.members) {
        const Pod* pod = store.cache->FindPod(uid);
        if (pod != nullptr && pod->node.empty() && !pod->over) return pod;
      }
      return nullptr;
    };
    const auto before = earlier->find(node);
    Resources sum = before == earlier->end() ? Resources{} : before->second;
    for (const placement::Planned& other : planned) {
      if (other.pods < 0) RemovePodsOf(store, other.gang->id, node, &sum);
      const Pod* pod = other.pods < 0 ? nullptr : pod_of(other.gang->id);
      for (int i = 0; pod != nullptr && i < other.pods; ++i) AddPod(*pod, &sum);
    }
    const Pod* pod = pod_of(gang.id);
    if (pod == nullptr) return placement::FitsAnywhere(gang, index, planned);
    return store.fits(*pod, node, sum);
  };
  return placement::LimitedByUser(state, LimitedByDemands(store, state, fits));
}

}  // namespace crossover::extender

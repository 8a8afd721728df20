#include "tests/unit/extender/placement/referee.h"

#include <algorithm>
#include <map>
#include <set>

namespace crossover::placement {
namespace {

using Name = std::pair<std::string, std::string>;  // node, GPU
using Set = std::set<Name>;

struct Client {
  const Gang* gang;
  Set set;
};

Set SetOf(const std::vector<Seat>& seats) {
  Set set;
  for (const Seat& seat : seats) {
    for (const std::string& uuid : seat.gpus) set.insert({seat.node, uuid});
  }
  return set;
}

const Node* NodeOf(const State& state, const std::string& name) {
  const auto found = std::ranges::find(state.nodes, name, &Node::name);
  return found == state.nodes.end() ? nullptr : &*found;
}

const Gpu* GpuOf(const State& state, const Name& name) {
  const Node* node = NodeOf(state, name.first);
  if (node == nullptr) return nullptr;
  const auto found = std::ranges::find(node->gpus, name.second, &Gpu::uuid);
  return found == node->gpus.end() ? nullptr : &*found;
}

// Returns whether both have the same set of GPUs. A gang may lack pods, so the sets may differ, but
// together they have no more GPUs than one whole gang.
bool OneSet(const Client& a, const Client& b) {
  Set both = a.set;
  both.insert(b.set.begin(), b.set.end());
  return static_cast<int>(both.size()) <= a.gang->gpus();
}

std::string FaultOfSeats(const State& state, const Gang& gang, const std::vector<Seat>& seats, int pods) {
  if (static_cast<int>(seats.size()) != pods) return "half a gang";
  std::size_t said = 0;
  for (const Seat& seat : seats) {
    said += seat.gpus.size();
    if (static_cast<int>(seat.gpus.size()) != gang.gpus_per_pod) return "a pod with another number of GPUs";
    const Node* node = NodeOf(state, seat.node);
    if (node == nullptr || !node->open) return "a pod on a node that takes none";
    for (const std::string& uuid : seat.gpus) {
      const Gpu* gpu = GpuOf(state, {seat.node, uuid});
      if (gpu == nullptr || !gpu->healthy) return "a GPU that is not there";
    }
  }
  return SetOf(seats).size() == said ? "" : "two ranks on one GPU";
}

bool Agree(const Gang& a, const Gang& b, const Settings& settings) {
  if (a.space == b.space) return true;
  if (a.consent == Consent::kNamespace || b.consent == Consent::kNamespace) return false;
  bool listed = settings.namespace_groups.empty();
  for (const auto& group : settings.namespace_groups) {
    const std::set<std::string> members(group.begin(), group.end());
    listed |= members.contains(a.space) && members.contains(b.space);
  }
  return listed;
}

// Returns the part of a GPU that a job must have to keep its cap, or 0 if it has no cap.
double Promised(const Gang& gang, bool spans) {
  if (gang.max_slowdown <= 0) return 0;
  const Profile& p = gang.profile;
  const double busy = p.source == Source::kUnknown || p.compute_s <= 0
                          ? (spans ? 1 / 1.41 : 1 / 1.13)
                          : (p.compute_s + p.spinning * p.exposed_s) / (p.compute_s + p.exposed_s);
  return busy / gang.max_slowdown;
}

Bytes Limit(const Gang& gang, const Settings& settings) {
  if (gang.memory_cap > 0) return gang.memory_cap;
  if (gang.profile.source == Source::kUnknown) return 0;
  return static_cast<Bytes>(static_cast<double>(gang.profile.peak_memory) * (1 + settings.memory_margin));
}

std::string FaultOfPair(const Gang& a, const Gang& b, bool one_user, const Settings& settings) {
  if (a.id == b.id) return "a gang twice";
  if (a.exclusive || b.exclusive) return "a gang beside an exclusive gang";
  if (!Agree(a, b, settings)) return "no consent";
  if (one_user && (a.users != Users::kOne || b.users != Users::kOne || a.uid != b.uid))
    return "two users under MPS";
  return "";
}

// Returns the first fault among all clients of one GPU, or "".
std::string FaultOfGpu(const State& state, const Name& name, const std::vector<const Client*>& clients,
                       const Settings& settings) {
  const Gpu* gpu = GpuOf(state, name);
  if (gpu == nullptr || clients.size() < 2) return "";
  if (static_cast<int>(clients.size()) > gpu->slots) return "more clients than slots";
  Set all;
  for (const Client* client : clients) all.insert(client->set.begin(), client->set.end());
  std::set<std::string> nodes;
  for (const auto& [node, uuid] : all) nodes.insert(node);
  const bool whole = static_cast<int>(all.size()) == clients.front()->gang->gpus();
  Bytes memory = 0;
  double promised = 0;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const Gang& gang = *clients[i]->gang;
    if (!OneSet(*clients[i], *clients.front())) return "sets that are not identical";
    if (Limit(gang, settings) == 0) return "a gang beside a gang without a limit";
    memory += Limit(gang, settings) + settings.context_reserve;
    promised += Promised(gang, nodes.size() > 1);
    for (std::size_t j = 0; j < i; ++j) {
      const bool one_user = NodeOf(state, name.first)->one_user;
      std::string fault = FaultOfPair(gang, *clients[j]->gang, one_user, settings);
      if (!fault.empty()) return fault;
    }
  }
  if (memory > gpu->memory) return "more memory than there is";
  return whole && promised > 0.95 ? "a cap on slowdown that cannot be kept" : "";
}

// Returns the first fault among the pods of the nodes whose MPS serves one user, or "".
std::string FaultOfUsers(const State& state, const std::vector<Client>& clients) {
  std::map<std::string, std::map<const Gang*, int>> gpus;  // by node
  for (const Client& client : clients) {
    for (const Name& name : client.set) ++gpus[name.first][client.gang];
  }
  for (const auto& [name, gangs] : gpus) {
    const Node* node = NodeOf(state, name);
    if (node == nullptr || !node->one_user) continue;
    for (const auto& [gang, count] : gangs) {
      if (gang->users == Users::kOne) continue;
      if (gang->users == Users::kMixed) return "several users in one pod, on " + name;
      if (gangs.size() > 1 || count > gang->gpus_per_pod) return "several users on a node, on " + name;
    }
  }
  return "";
}

std::string FaultOfAll(const State& state, const std::vector<Client>& clients, const Settings& settings) {
  std::map<Name, std::vector<const Client*>> by_gpu;
  for (const Client& client : clients) {
    for (const Name& name : client.set) by_gpu[name].push_back(&client);
  }
  for (const auto& [name, there] : by_gpu) {
    std::string fault = FaultOfGpu(state, name, there, settings);
    if (!fault.empty()) return fault + ", on " + name.second;
  }
  return FaultOfUsers(state, clients);
}

std::string FaultOfWords(const State& state, const std::vector<Gang>& waiting, const Refusal& refusal) {
  if (refusal.text.empty()) return "no reason";
  const auto self = std::ranges::find(waiting, refusal.gang, &Gang::id);
  if (self == waiting.end()) return "a refusal for no gang";
  for (const Placed& placed : state.placed) {
    const bool foreign = placed.gang.space != self->space;
    if (foreign && refusal.text.find(placed.gang.name) != std::string::npos) return "a foreign job's name";
    if (foreign && refusal.text.find(placed.gang.space) != std::string::npos) return "a foreign namespace";
  }
  return "";
}

// Returns for how many pods of `gang` the node has GPUs that none of `clients` is on.
int RoomFor(const Node& node, const Gang& gang, const std::vector<Client>& clients, const Set& kept,
            const Settings& settings) {
  if (!node.open || (node.one_user && gang.users == Users::kMixed)) return 0;
  const Bytes limit = Limit(gang, settings);
  Set free;
  for (const Gpu& gpu : node.gpus) {
    const bool fits = limit == 0 || limit + settings.context_reserve <= gpu.memory;
    if (gpu.healthy && gpu.slots > 0 && fits && !kept.contains({node.name, gpu.uuid}))
      free.insert({node.name, gpu.uuid});
  }
  const bool alone = node.one_user && gang.users != Users::kOne;
  for (const Client& client : clients) {
    const auto there = [&](const Name& name) { return name.first == node.name; };
    if (node.one_user && (alone || client.gang->users != Users::kOne) &&
        std::ranges::any_of(client.set, there))
      return 0;
    for (const Name& name : client.set) free.erase(name);
  }
  const int pods = static_cast<int>(free.size()) / gang.gpus_per_pod;
  return alone ? std::min(pods, 1) : pods;
}

// Returns the first gang that waits although it could have GPUs of its own, if only gangs of its rank or of a
// higher one are there; else "".
std::string FaultOfOrder(const State& state, const std::vector<Gang>& waiting, const Decision& decision,
                         const Settings& settings) {
  for (const Refusal& refusal : decision.refusals) {
    const Gang& passed = *std::ranges::find(waiting, refusal.gang, &Gang::id);
    std::vector<Client> clients;
    for (const Placed& placed : state.placed) clients.push_back({&placed.gang, SetOf(placed.seats)});
    for (const Plan& plan : decision.plans) {
      const Gang& gang = *std::ranges::find(waiting, plan.gang, &Gang::id);
      if (gang.rank >= passed.rank) clients.push_back({&gang, SetOf(plan.seats)});
    }
    if (decision.preemption) {
      const Gang& gang = *std::ranges::find(waiting, decision.preemption->gang, &Gang::id);
      if (gang.id != passed.id && gang.rank >= passed.rank)
        clients.push_back({&gang, SetOf(decision.preemption->seats)});
    }
    Set kept;
    if (decision.kept) {
      const auto keeper = std::ranges::find(waiting, decision.kept->gang, &Gang::id);
      if (keeper != waiting.end() && keeper->rank >= passed.rank) kept = SetOf(decision.kept->gpus);
    }
    int pods = 0;
    for (const Node& node : state.nodes) pods += RoomFor(node, passed, clients, kept, settings);
    if (pods >= passed.pods) return "passed over, though there is room for its rank: " + passed.id;
  }
  return "";
}

}  // namespace

std::string FaultOfRoom(const State& state, const std::vector<Gang>& waiting, const Decision& decision,
                        const Settings& settings) {
  if (!decision.preemption) return "";
  const Preemption& room = *decision.preemption;
  const auto gang = std::ranges::find(waiting, room.gang, &Gang::id);
  if (gang == waiting.end()) return "room for no gang";
  if (!gang->preempts) return "room for a gang whose policy is Never";
  const std::set<std::string> victims(room.victims.begin(), room.victims.end());
  if (victims.empty() || victims.size() != room.victims.size()) return "no victims, or one of them twice";
  std::vector<Client> clients;
  std::size_t left = 0;
  for (const Placed& placed : state.placed) {
    if (!victims.contains(placed.gang.id)) {
      clients.push_back({&placed.gang, SetOf(placed.seats)});
      continue;
    }
    ++left;
    if (placed.gang.rank >= gang->rank) return "inversion of ranks: " + placed.gang.id + " leaves";
    if (placed.leave != Leave::kMay) return "a gang leaves that may not: " + placed.gang.id;
  }
  if (left != victims.size()) return "a victim that is not there";
  for (const Plan& plan : decision.plans) {
    if (plan.gang == room.gang) return "room for a gang that has a place";
    clients.push_back({&*std::ranges::find(waiting, plan.gang, &Gang::id), SetOf(plan.seats)});
  }
  std::string fault = FaultOfSeats(state, *gang, room.seats, gang->pods);
  if (!fault.empty()) return fault + " where room is made";
  clients.push_back({&*gang, SetOf(room.seats)});
  fault = FaultOfAll(state, clients, settings);
  return fault.empty() ? "" : fault + " where room is made";
}

std::string FaultOf(const State& state, const std::vector<Gang>& waiting, const Decision& decision,
                    const Settings& settings) {
  std::vector<Client> clients;
  std::map<std::string, int> answers;
  for (const Placed& placed : state.placed) clients.push_back({&placed.gang, SetOf(placed.seats)});
  for (const Plan& plan : decision.plans) {
    const auto gang = std::ranges::find(waiting, plan.gang, &Gang::id);
    if (gang == waiting.end()) return "a plan for no gang";
    ++answers[plan.gang];
    std::string fault = FaultOfSeats(state, *gang, plan.seats, gang->pods);
    if (!fault.empty()) return fault + ": " + plan.gang;
    clients.push_back({&*gang, SetOf(plan.seats)});
  }
  for (const Refusal& refusal : decision.refusals) {
    ++answers[refusal.gang];
    std::string fault = FaultOfWords(state, waiting, refusal);
    if (!fault.empty()) return fault + ": " + refusal.gang;
  }
  for (const Gang& gang : waiting) {
    if (answers[gang.id] != 1) return std::to_string(answers[gang.id]) + " answers for " + gang.id;
  }
  std::string fault = FaultOfAll(state, clients, settings);
  if (fault.empty()) fault = FaultOfRoom(state, waiting, decision, settings);
  if (fault.empty()) fault = FaultOfOrder(state, waiting, decision, settings);
  return fault;
}

namespace {

int PodsOn(const std::vector<Seat>& seats, const std::string& node) {
  return static_cast<int>(std::ranges::count(seats, node, &Seat::node));
}

// Returns how many of a gang's pods the node takes beside those of `state`, GPUs aside.
int RoomOnNode(const State& state, const Node& node, const PodLimit& limit) {
  if (!limit) return 1'000'000;
  int room = limit(node);
  for (const Placed& placed : state.placed) room -= PodsOn(placed.seats, node.name);
  return std::max(0, room);
}

// Returns whether one job more among `count` equal ones gains enough.
bool Gains(const Profile& profile, int count, const Settings& settings) {
  const double fill = (profile.compute_s + profile.exposed_s) / profile.compute_s;
  const auto together = [&](int jobs) {
    return jobs == 1 ? 1 : settings.efficiency * std::min<double>(jobs, fill);
  };
  return together(count + 1) > together(count) &&
         together(count + 1) >= settings.min_gain * together(count) - 1e-9;
}

// Returns whether `gang` could share the GPUs of `host` with all gangs there.
bool CanJoin(const State& state, const Placed& host, const Gang& gang, const Settings& settings,
             const PodLimit& limit) {
  const Set set = SetOf(host.seats);
  if (static_cast<int>(set.size()) != gang.gpus()) return false;
  int there = 0;
  std::vector<Client> clients;
  for (const Placed& placed : state.placed) {
    clients.push_back({&placed.gang, SetOf(placed.seats)});
    there += clients.back().set == set;
  }
  clients.push_back({&gang, set});
  if (!FaultOfAll(state, clients, settings).empty()) return false;
  std::map<std::string, int> gpus;  // by node
  for (const Name& name : set) {
    const Gpu* gpu = GpuOf(state, name);
    if (gpu == nullptr || !gpu->healthy || !NodeOf(state, name.first)->open) return false;
    ++gpus[name.first];
  }
  for (const auto& [node, count] : gpus) {
    if (count % gang.gpus_per_pod != 0) return false;
    if (RoomOnNode(state, *NodeOf(state, node), limit) < count / gang.gpus_per_pod) return false;
  }
  return Gains(gang.profile, there, settings);
}

// Returns whether all gangs on these GPUs have as many as they need. Else none may join them.
bool AreWhole(const State& state, const Set& gpus) {
  return std::ranges::none_of(state.placed, [&gpus](const Placed& placed) {
    const Set own = SetOf(placed.seats);
    const bool meets = std::ranges::any_of(own, [&gpus](const auto& gpu) { return gpus.contains(gpu); });
    return meets && static_cast<int>(own.size()) != placed.gang.gpus();
  });
}

}  // namespace

bool HasPlace(const State& state, const Gang& gang, const Settings& settings, const PodLimit& limit) {
  std::vector<Client> clients;
  for (const Placed& placed : state.placed) clients.push_back({&placed.gang, SetOf(placed.seats)});
  int pods = 0;
  for (const Node& node : state.nodes) {
    pods += std::min(RoomFor(node, gang, clients, {}, settings), RoomOnNode(state, node, limit));
  }
  if (pods >= gang.pods) return true;
  return std::ranges::any_of(state.placed, [&](const Placed& host) {
    return AreWhole(state, SetOf(host.seats)) && CanJoin(state, host, gang, settings, limit);
  });
}

}  // namespace crossover::placement

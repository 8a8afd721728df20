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

// Returns the part of a GPU that a job must have to keep its cap, or 0 where it has no cap.
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
  if (a.exclusive || b.exclusive) return "somebody beside an exclusive gang";
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
    if (Limit(gang, settings) == 0) return "somebody beside a gang without a limit";
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
  if (self == waiting.end()) return "a refusal for nobody";
  for (const Placed& placed : state.placed) {
    const bool foreign = placed.gang.space != self->space;
    if (foreign && refusal.text.find(placed.gang.name) != std::string::npos) return "a foreign job's name";
    if (foreign && refusal.text.find(placed.gang.space) != std::string::npos) return "a foreign namespace";
  }
  return "";
}

}  // namespace

std::string FaultOf(const State& state, const std::vector<Gang>& waiting, const Decision& decision,
                    const Settings& settings) {
  std::vector<Client> clients;
  std::map<std::string, int> answers;
  for (const Placed& placed : state.placed) clients.push_back({&placed.gang, SetOf(placed.seats)});
  for (const Plan& plan : decision.plans) {
    const auto gang = std::ranges::find(waiting, plan.gang, &Gang::id);
    if (gang == waiting.end()) return "a plan for nobody";
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
  return FaultOfAll(state, clients, settings);
}

}  // namespace crossover::placement

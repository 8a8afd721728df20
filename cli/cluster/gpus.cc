// Checks the GPUs of the nodes, as their daemons publish them.
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "cli/cluster/checks.h"
#include "cli/cluster/objects.h"
#include "common/annotations/assignment.h"
#include "common/api/pod.h"
#include "common/base/foreign_keys.h"
#include "common/base/gpu_phrases.h"
#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/base/withheld.h"
#include "common/kube/json.h"
#include "common/kube/pod_users.h"

namespace crossover::cli {
namespace {

using base::Withheld;
using Says = std::function<bool(const std::string& why)>;

bool Has(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

// Returns the reason that a daemon of an earlier version gives only in words, if a check uses it.
std::optional<Withheld> InWords(const std::string& text) {
  constexpr std::pair<const char*, Withheld> kPhrases[] = {
      {base::kSaysOtherPlugin, Withheld::kOtherPlugin},
      {base::kUsedByProcess, Withheld::kForeignProcess},
      {base::kInMaintenance, Withheld::kMaintenance},
      {base::kSaysMpsTakesNone, Withheld::kMpsTakesNone},
      {base::kSaysStartedWithoutMps, Withheld::kStartedWithoutMps},
  };
  for (const auto& [phrase, reason] : kPhrases) {
    if (Has(text, phrase)) return reason;
  }
  return std::nullopt;
}

// Returns why the GPU is withheld. Returns nullopt if no check goes by the reason, or if a daemon of a later
// version names one that this version does not know.
std::optional<Withheld> ReasonOf(const api::GpuNode::Gpu& gpu) {
  return gpu.notes->reason.empty() ? InWords(gpu.withheld) : base::WithheldNamed(gpu.notes->reason);
}

// Returns the GPUs that are withheld for a reason for which `says` returns true.
Places WhereWithheld(const ClusterFacts& facts, const std::function<bool(std::optional<Withheld>)>& says) {
  Places places;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    for (const api::GpuNode::Gpu& gpu : node.gpus) {
      if (!gpu.withheld.empty() && says(ReasonOf(gpu)))
        places.push_back(node.name + " " + gpu.uuid + ": " + gpu.withheld);
    }
  }
  return places;
}

Places WhereWithheld(const ClusterFacts& facts, Withheld reason) {
  return WhereWithheld(facts, [reason](std::optional<Withheld> why) { return why == reason; });
}

bool OfMissingLibrary(const std::string& why) { return Has(why, base::kLibraryMissing); }
bool OfSilentLibrary(const std::string& why) { return Has(why, base::kLibrarySilent); }
bool OfMode(const std::string& why) { return Has(why, base::kSwitchedOff); }

// Returns the GPUs on which no turns are taken for a reason for which `says` returns true.
Places WhereNoTurns(const ClusterFacts& facts, const Says& says) {
  Places places;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    for (const api::GpuNode::Gpu& gpu : node.gpus) {
      if (!gpu.notes->no_turns.empty() && says(gpu.notes->no_turns))
        places.push_back(node.name + " " + gpu.uuid + ": " + gpu.notes->no_turns);
    }
  }
  return places;
}

// Returns the texts with commas between them.
std::string Joined(const std::set<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

const json* Find(const json& items, const std::string& full_name) {
  for (const json& item : items) {
    if (FullName(item) == full_name) return &item;
  }
  return nullptr;
}

}  // namespace

// Leaves out nodes in maintenance, whose driver may be absent on purpose.
Places NodesWithoutGpus(const ClusterFacts& facts) {
  Places places;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    if (node.gpus.empty() && !node.maintenance)
      places.push_back("node " + node.name + ": expected GPUs, got none");
  }
  return places;
}

// If the other plugin has stopped giving out a GPU, its pods may still have it.
Places TwoOwners(const ClusterFacts& facts) {
  Places places = WhereWithheld(facts, Withheld::kOtherPlugin);
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    const json* object = Find(facts.Items("nodes"), node.name);
    const std::int64_t others =
        object == nullptr ? 0 : CountAt(*object, {"status", "allocatable"}, "nvidia.com/gpu");
    if (others > 0 && api::SlotsOf(node) > 0)
      places.push_back("node " + node.name + ": expected slots alone, got " + std::to_string(others) +
                       " nvidia.com/gpu beside them");
  }
  return places;
}

// Looks at nodes with a GPUNode that a daemon keeps and that the GPU Operator labels. Unless the label of the
// operator's plugin is "false", two plugins own the node. Unless the label of the operator's validator is
// "false", the validator waits for nvidia.com/gpu forever.
Places OperatorLabels(const ClusterFacts& facts) {
  constexpr char kOfOperator[] = "nvidia.com/gpu.deploy.";
  Places places;
  for (const api::GpuNode& gpu_node : KeptGpuNodes(facts)) {
    const json* node = Find(facts.Items("nodes"), gpu_node.name);
    if (node == nullptr) continue;
    const auto labels = kube::LabelsAt(kube::At(*node, "metadata"), "labels");
    const auto first = labels.lower_bound(kOfOperator);
    if (first == labels.end() || !first->first.starts_with(kOfOperator)) continue;
    for (const char* key : {base::kOperatorPluginLabel, base::kOperatorValidatorLabel}) {
      const auto label = labels.find(key);
      const std::string value = label == labels.end() ? "" : label->second;
      if (value != "false")
        places.push_back(
            base::Refusal("node " + NameOf(*node) + ": label " + key, "false", base::Shown(value)));
    }
  }
  return places;
}

Places DraDrivers(const ClusterFacts& facts) { return WhereWithheld(facts, Withheld::kDraDriver); }

Places Strangers(const ClusterFacts& facts) { return WhereWithheld(facts, Withheld::kForeignProcess); }

Places WithheldOtherwise(const ClusterFacts& facts) {
  return WhereWithheld(facts, [](std::optional<Withheld> why) {
    return why != Withheld::kOtherPlugin && why != Withheld::kDraDriver && why != Withheld::kForeignProcess &&
           why != Withheld::kMaintenance && why != Withheld::kMpsTakesNone;
  });
}

Places UnknownMemory(const ClusterFacts& facts) {
  Places places;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    for (const api::GpuNode::Gpu& gpu : node.gpus) {
      if (ReasonOf(gpu) == Withheld::kMemoryUnknown)
        places.push_back(node.name + " " + gpu.uuid +
                         ": memory: expected a size from the driver or node.gpu_memory, got neither");
    }
  }
  return places;
}

Places MpsTakesNoClients(const ClusterFacts& facts) { return WhereWithheld(facts, Withheld::kMpsTakesNone); }

Places MissingPreload(const ClusterFacts& facts) { return WhereNoTurns(facts, OfMissingLibrary); }
Places SilentLibrary(const ClusterFacts& facts) { return WhereNoTurns(facts, OfSilentLibrary); }

Places HeldOtherwise(const ClusterFacts& facts) {
  return WhereNoTurns(facts, [](const std::string& why) {
    return !OfMissingLibrary(why) && !OfSilentLibrary(why) && !OfMode(why);
  });
}

Places SharingWithoutMps(const ClusterFacts& facts) {
  Places places;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    if (node.sharing == "timeslice")
      places.push_back("node " + node.name + ": sharing: expected mps, got timeslice");
    if (node.sharing == "exclusive" && node.sharing_reason != base::kAsConfigured)
      places.push_back("node " + node.name +
                       ": sharing: expected mps, got exclusive: " + node.sharing_reason);
  }
  return places;
}

Places UserClash(const ClusterFacts& facts) {
  // `users` holds one pod of each user, by node. A pod with users of its own (hostUsers: false) counts as a
  // user with a number below 0. A pod whose image decides goes into `of_unknown_user`. Its user is certainly
  // another one than that of a pod with users of its own.
  std::map<std::string, std::map<std::int64_t, std::string>> users;
  std::map<std::string, std::string> of_unknown_user;
  std::int64_t own = 0;
  for (const json& pod : facts.Items("pods")) {
    if (NodeOf(pod).empty() || IsOver(pod)) continue;
    const json& spec = kube::At(pod, "spec");
    if (kube::HasOwnUsers(spec)) {
      users[NodeOf(pod)].emplace(--own, FullName(pod));
      continue;
    }
    for (const kube::UserId& user : kube::UsersOf(spec)) {
      if (user) users[NodeOf(pod)].emplace(*user, FullName(pod));
      if (!user) of_unknown_user.emplace(NodeOf(pod), FullName(pod));
    }
  }
  Places places;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    if (node.sharing != "mps" || node.multi_user) continue;
    const auto& here = users[node.name];
    const auto unknown = of_unknown_user.find(node.name);
    const bool beside_own = unknown != of_unknown_user.end() && !here.empty() && here.begin()->first < 0;
    if (here.size() < 2 && !beside_own) continue;
    std::string place = "node " + node.name + ": expected pods of one user, got";
    for (const auto& [user, pod] : here) {
      place += " " + pod + " of " +
               (user < 0 ? "a user of its own (hostUsers: false)" : "user " + std::to_string(user)) + ",";
    }
    if (beside_own) place += " " + unknown->second + " of another user,";
    place.pop_back();
    places.push_back(place);
  }
  return places;
}

namespace {

// Returns the pods that have GPUs which are withheld because pods on them were started without MPS.
std::set<std::string> PodsWithoutMps(const ClusterFacts& facts) {
  std::set<std::string> gpus;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    for (const api::GpuNode::Gpu& gpu : node.gpus) {
      if (ReasonOf(gpu) == Withheld::kStartedWithoutMps) gpus.insert(node.name + " " + gpu.uuid);
    }
  }
  std::set<std::string> pods;
  for (const Holder& holder : HoldersIn(facts)) {
    if (gpus.contains(holder.node + " " + holder.gpu)) pods.insert(holder.pod);
  }
  return pods;
}

}  // namespace

Places HiddenShm(const ClusterFacts& facts) {
  std::set<std::string> under_mps;
  for (const api::GpuNode& node : KeptGpuNodes(facts)) {
    if (node.sharing == "mps") under_mps.insert(node.name);
  }
  const std::set<std::string> without = PodsWithoutMps(facts);
  Places places;
  for (const json& object : facts.Items("pods")) {
    const auto pod = api::ParsePod(object);
    if (!pod || pod->over || pod->shm != api::Shm::kOwn || !under_mps.contains(pod->node)) continue;
    const std::string name = pod->name_space + "/" + pod->name;
    if (!without.contains(name))
      places.push_back("pod " + name + " on node " + pod->node +
                       ": /dev/shm: expected the volume of the node, got one of its own");
  }
  return places;
}

Places SlotsOfTwo(const ClusterFacts& facts) {
  std::map<std::string, std::set<std::string>> pods;  // by node and slot
  for (const Holder& holder : HoldersIn(facts)) {
    for (const std::string& slot : holder.slots) pods[holder.node + " " + slot].insert(holder.pod);
  }
  Places places;
  for (const auto& [slot, those] : pods) {
    if (those.size() > 1)
      places.push_back(slot + ": expected one pod, got " + *those.begin() + " and " + *those.rbegin());
  }
  return places;
}

Places RanksOnOneGpu(const ClusterFacts& facts) {
  std::map<std::string, std::set<std::string>> pods;  // by node, GPU and gang
  for (const Holder& holder : HoldersIn(facts))
    if (!holder.gang.empty()) pods[holder.node + " " + holder.gpu + ": " + holder.gang].insert(holder.pod);
  Places places;
  for (const auto& [where, those] : pods) {
    if (those.size() > 1)
      places.push_back(where + ": expected one pod of the gang, got " + *those.begin() + " and " +
                       *those.rbegin());
  }
  return places;
}

Places OtherGpusThanAssigned(const ClusterFacts& facts) {
  std::map<std::string, std::set<std::string>> given;  // by pod
  for (const Holder& holder : HoldersIn(facts)) given[holder.pod].insert(holder.gpu);
  Places places;
  for (const json& pod : facts.Items("pods")) {
    std::set<std::string> assigned;
    for (const auto& [container, gpus] :
         annotations::ReadAssignment(AnnotationOf(pod, base::kAssignmentAnnotation)))
      assigned.insert(gpus.begin(), gpus.end());
    const auto has = given.find(FullName(pod));
    if (!assigned.empty() && has != given.end() && has->second != assigned)
      places.push_back("pod " + FullName(pod) + " on node " + NodeOf(pod) + ": expected the GPUs " +
                       Joined(assigned) + ", got " + Joined(has->second));
  }
  return places;
}

}  // namespace crossover::cli

// Declares what a kube-scheduler asks of an extender, without the wire format.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crossover::extender {

// A PodRef names a pod. The UID identifies it; namespace and name are for messages.
struct PodRef {
  std::string uid, name_space, name;
  bool slots = true;        // whether it asks for slots, as far as is known; other pods may go to any node
  std::string nominated{};  // the node that the scheduler tries first, alone; empty: none
};

// A FilterAnswer says which nodes may take the pod, and why the others may not.
struct FilterAnswer {
  std::vector<std::string> nodes;  // at most one of the nodes that the scheduler asks about
  // These texts say why the other nodes may not take the pod. Preempting pods could help on the nodes in
  // `failed`, and not on those in `unresolvable`. All nodes that are in neither map share one text: the
  // scheduler shows texts to users by how often they occur.
  std::map<std::string, std::string> failed;
  std::map<std::string, std::string> unresolvable;
  std::string others;  // for the nodes in neither map; they count as unresolvable
};

// Victims are the pods that the scheduler would evict from one node.
struct Victims {
  std::vector<std::string> uids;
  int disruption_budgets_violated = 0;
};

// A SchedulerExtender answers the scheduler's questions.
class SchedulerExtender {
 public:
  virtual ~SchedulerExtender() = default;

  // Returns which nodes may take the pod. Returns nothing if this replica does not lead, or does not know the
  // cluster or the pod yet; the scheduler must then ask again. Never waits for the API server.
  virtual std::optional<FilterAnswer> Filter(const PodRef& pod, std::span<const std::string_view> nodes) = 0;

  // Returns a score from 0 to 10 for each node, in the order of `nodes`.
  virtual std::vector<int> Prioritize(const PodRef& pod, std::span<const std::string_view> nodes) = 0;

  // Binds the pod to the node. Calls `done` exactly once, from any thread, perhaps before Bind returns:
  // with "" if the pod is bound, else with the reason. `done` is called within the SchedulerExtender's own
  // deadline in every case.
  using Done = std::function<void(const std::string& error)>;
  virtual void Bind(const PodRef& pod, const std::string& node, Done done) = 0;

  // Returns the nodes from which the scheduler may evict these pods, with their victims. Leaves out nodes if
  // a victim belongs to a gang of more than one pod.
  virtual std::map<std::string, Victims> Preempt(const PodRef& pod,
                                                 std::map<std::string, Victims> by_node) = 0;
};

}  // namespace crossover::extender

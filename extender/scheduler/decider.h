// What a scheduler asks, and who answers: the extender's verbs without their wire format.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace crossover::extender {

// Which pod: by its UID, the rest is for messages.
struct PodRef {
  std::string uid, name_space, name;
  bool slots = true;        // it asks for some, as far as is known; all others may go anywhere
  std::string nominated{};  // the node that a scheduler tries alone before it tries all; empty: none
};

struct FilterAnswer {
  std::vector<std::string> nodes;  // of those asked about: at most one
  // Why not the others, where somebody could help by making room (`failed`), or could not (`unresolvable`).
  // One text stands for all nodes that are not named: texts are shown to users by how often they occur.
  std::map<std::string, std::string> failed;
  std::map<std::string, std::string> unresolvable;
  std::string others;  // of the nodes in neither list; they are unresolvable
};

struct Victims {
  std::vector<std::string> uids;
  int disruption_budgets_violated = 0;
};

class Decider {
 public:
  virtual ~Decider() = default;

  // Nothing: it does not lead, or does not know the cluster yet; whoever asks is to come back. Never waits.
  virtual std::optional<FilterAnswer> Filter(const PodRef& pod, std::span<const std::string_view> nodes) = 0;

  // Of each node, 0 to 10, in their order.
  virtual std::vector<int> Prioritize(const PodRef& pod, std::span<const std::string_view> nodes) = 0;

  // `done` is called once, from any thread, perhaps before Bind returns: "" when the pod is bound, else why
  // it is not. It is called within `Decider`'s own deadline, whatever happens.
  using Done = std::function<void(const std::string& error)>;
  virtual void Bind(const PodRef& pod, const std::string& node, Done done) = 0;

  // Which of the nodes may be freed by evicting these pods: those that hold no part of a gang.
  virtual std::map<std::string, Victims> Preempt(const PodRef& pod,
                                                 std::map<std::string, Victims> by_node) = 0;
};

}  // namespace crossover::extender

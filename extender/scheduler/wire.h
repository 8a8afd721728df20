// Reads what a kube-scheduler asks its extenders and writes the answers: JSON of scheduler extender v1.
//
// Reading neither throws nor reads past the end of the bytes, whatever they are. Names are views into the
// reader. They are valid until it reads again or is destroyed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extender/scheduler/scheduler_extender.h"

namespace crossover::extender {

// A NodesQuestion is the question of the verbs filter and prioritize.
struct NodesQuestion {
  PodRef pod;
  std::vector<std::string_view> nodes;
};

struct BindQuestion {
  PodRef pod;
  std::string node;
};

struct PreemptQuestion {
  PodRef pod;
  std::map<std::string, Victims> by_node;
};

// An ArgsParser parses the scheduler's questions. REQUIRES: one thread at a time. Each function returns
// nothing if the text is not as it must be; `error` is then one line with the key, what is there and what
// is expected.
class ArgsParser {
 public:
  ArgsParser();
  ~ArgsParser();
  ArgsParser(const ArgsParser&) = delete;
  ArgsParser& operator=(const ArgsParser&) = delete;

  std::optional<NodesQuestion> Nodes(const std::string& text, std::string* error);
  std::optional<BindQuestion> Bind(const std::string& text, std::string* error);
  std::optional<PreemptQuestion> Preempt(const std::string& text, std::string* error);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns the answer to filter: the nodes of `asked` that `answer` allows. If there are none, adds every
// node with its reason. Else it writes no reasons: the scheduler shows them only if no node is left, and
// does not require them (kube-scheduler 1.31 to 1.36, findNodesThatPassExtenders).
std::string FilterText(const FilterAnswer& answer, std::span<const std::string_view> asked);
// Returns an answer to filter with an error alone. The scheduler reports the error and asks again.
std::string FilterErrorText(std::string_view error);
// Returns the answer to prioritize. `scores` has the order of `asked`. A missing score counts as 0; others
// are clamped to 0 to 10.
std::string PrioritizeText(std::span<const int> scores, std::span<const std::string_view> asked);
// Returns the answer to bind. An empty `error` means that the pod is bound.
std::string BindText(std::string_view error);
// Returns the answer to preempt. Leaves out nodes without victims: the scheduler counts them as an error.
std::string PreemptText(const std::map<std::string, Victims>& by_node);

}  // namespace crossover::extender

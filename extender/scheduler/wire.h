// What a kube-scheduler asks its extenders, and how it wants to be answered: JSON of scheduler extender v1.
//
// Whatever the bytes are, reading them neither throws nor reads past them. Names are views into the reader,
// as long as it is there and reads nothing else.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extender/scheduler/decider.h"

namespace crossover::extender {

// Of the verbs filter and prioritize.
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

// One thread at a time. Each function returns nothing where the text is not what it should be; `error` is
// then one line that names the key, what it is and what is allowed.
class QuestionReader {
 public:
  QuestionReader();
  ~QuestionReader();
  QuestionReader(const QuestionReader&) = delete;
  QuestionReader& operator=(const QuestionReader&) = delete;

  std::optional<NodesQuestion> Nodes(const std::string& text, std::string* error);
  std::optional<BindQuestion> Bind(const std::string& text, std::string* error);
  std::optional<PreemptQuestion> Preempt(const std::string& text, std::string* error);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The nodes that are left, of those that were asked about, whatever `answer` says. Where none is, every node
// with its reason; else no reasons: a scheduler shows them only if nothing is left, and wants none
// (kube-scheduler 1.31 to 1.36, findNodesThatPassExtenders).
std::string FilterText(const FilterAnswer& answer, std::span<const std::string_view> asked);
// Nothing but an error: the scheduler tells it, and comes back.
std::string FilterErrorText(std::string_view error);
// `scores` in the order of the nodes; what is not there is 0, what is out of range is brought into it.
std::string PrioritizeText(std::span<const int> scores, std::span<const std::string_view> asked);
std::string BindText(std::string_view error);  // empty: bound
// Nodes without victims are left out: a scheduler takes them for an error.
std::string PreemptText(const std::map<std::string, Victims>& by_node);

}  // namespace crossover::extender

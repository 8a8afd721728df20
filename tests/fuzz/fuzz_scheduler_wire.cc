// libs: crossover::scheduler crossover::kube
// Reads what a scheduler asks. The answer is JSON with every node that the scheduler asked about.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "extender/scheduler/wire.h"

using nlohmann::json;
namespace extender = crossover::extender;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  extender::ArgsParser reader;
  std::string error;
  if (const auto question = reader.Nodes(text, &error)) {
    const extender::FilterAnswer answer{
        .nodes = {"n1"}, .failed = {{"n2", "x"}}, .unresolvable = {}, .others = "y"};
    const json filtered = json::parse(extender::FilterText(answer, question->nodes), nullptr, false);
    const std::set<std::string_view> names(question->nodes.begin(), question->nodes.end());
    std::set<std::string> told = filtered.at("NodeNames");
    for (const auto& [node, why] : filtered.at("FailedNodes").items()) told.insert(node);
    for (const auto& [node, why] : filtered.at("FailedAndUnresolvableNodes").items()) told.insert(node);
    const bool left = names.count("n1") != 0;
    if (told.size() != (left ? 1 : names.size())) std::abort();
    if (json::parse(extender::PrioritizeText({}, question->nodes), nullptr, false).size() !=
        question->nodes.size())
      std::abort();
  }
  if (const auto question = reader.Bind(text, &error)) {
    if (question->pod.uid.empty() || question->node.empty()) std::abort();
  }
  if (const auto question = reader.Preempt(text, &error)) {
    if (json::parse(extender::PreemptText(question->by_node), nullptr, false).is_discarded()) std::abort();
  }
  if (json::parse(extender::FilterErrorText(error), nullptr, false).is_discarded()) std::abort();
  return 0;
}

#include "cli/cluster/servers.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/cluster/objects.h"
#include "cli/render/print.h"
#include "common/base/refusal.h"
#include "pipeline/mapping.h"

namespace crossover::cli {
namespace {

constexpr double kBitsPerGbit = 1e9, kBitsPerByte = 8;

// An Alike stands for the GPUs of one model on one node.
struct Alike {
  std::int64_t gpus = 0;
  std::uint64_t memory = 0;  // bytes of the smallest; 0: not known
};

std::map<std::string, Alike> ByModel(const api::GpuNode& node) {
  std::map<std::string, Alike> models;
  for (const api::GpuNode::Gpu& gpu : node.gpus) {
    if (!gpu.healthy) continue;
    const auto [known, is_new] = models.try_emplace(gpu.model);
    Alike& alike = known->second;
    alike.memory = is_new ? gpu.memory : std::min(alike.memory, gpu.memory);
    ++alike.gpus;
  }
  return models;
}

// Returns the names, each in quotation marks; the first kMostNamed, and how many there are more.
std::string Listed(const std::set<std::string>& names) {
  constexpr std::size_t kMostNamed = 20;
  std::string text;
  std::size_t named = 0;
  for (const std::string& name : names) {
    if (++named > kMostNamed) return text + " and " + std::to_string(names.size() - kMostNamed) + " more";
    text += (text.empty() ? "\"" : ", \"") + base::Shown(name) + "\"";
  }
  return text;
}

// Returns a line that says that no GPU is given out, and why one of them is not.
std::string NoGpus(const std::vector<api::GpuNode>& gpu_nodes, const std::set<std::string>& nodes) {
  const std::string text = "expected at least one GPU that is healthy and given out" +
                           std::string(nodes.empty() ? "" : " on the nodes of --node") +
                           ", got none: run kubectl crossover doctor";
  for (const api::GpuNode& node : gpu_nodes) {
    if (!nodes.empty() && !nodes.contains(node.name)) continue;
    for (const api::GpuNode::Gpu& gpu : node.gpus) {
      if (!gpu.withheld.empty())
        return text + "; node " + base::Shown(node.name) + ": one GPU is withheld: " + gpu.withheld;
    }
  }
  return text;
}

// Returns what is wrong with the speeds for GPUs of these models, or an empty string.
std::string FaultOfSpeeds(const std::map<std::string, double>& speed, const std::set<std::string>& models) {
  for (const auto& [model, factor] : speed) {
    if (!models.contains(model))
      return base::Refusal("--speed", "a model of " + Listed(models), base::Shown(model));
  }
  if (models.size() < 2) return "";
  std::set<std::string> without;
  for (const std::string& model : models) {
    if (!speed.contains(model)) without.insert(model);
  }
  if (without.empty()) return "";
  return base::Refusal("--speed", "a speed for each of " + Listed(models), "none for " + Listed(without));
}

// Returns a line about the nodes whose links have no known speed, or "" if there are none.
std::string NoteOf(const std::set<std::string>& nodes) {
  if (nodes.empty()) return "";
  return (nodes.size() == 1 ? "node " + Listed(nodes) + ": the speed of its link is"
                            : "nodes " + Listed(nodes) + ": the speeds of their links are") +
         " not known, so the plan counts transfers there as free: set deviceplugin.config.node.link_gbps\n";
}

json ServerOf(const std::string& name, const Alike& alike, double speed, double link_bytes_per_s,
              double inner_gbit) {
  constexpr double kGib = 1u << 30;
  json server = {{"name", name}, {"gpus", alike.gpus}, {"speed", speed}};
  if (alike.memory > 0) server["gpu_memory_gib"] = static_cast<double>(alike.memory) / kGib;
  if (link_bytes_per_s > 0) server["network_gbit"] = link_bytes_per_s * kBitsPerByte / kBitsPerGbit;
  if (inner_gbit > 0) server["inner_gbit"] = inner_gbit;
  return server;
}

}  // namespace

std::string AddSpeed(const std::string& words, ServersOptions* options) {
  const std::size_t sign = std::min(words.rfind('='), words.size());
  const std::string model = words.substr(0, sign);
  double factor = 0;
  const char* const end = words.data() + words.size();
  const auto parsed = std::from_chars(words.data() + std::min(sign + 1, words.size()), end, factor);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == end;
  if (model.empty() || !is_number || !(factor >= pipeline::kLeastSpeed && factor <= pipeline::kMostSpeed))
    return "expected MODEL=FACTOR with a factor from 0.001 to 1000, got " + base::Shown(words);
  if (options->speed.emplace(model, factor).second) return "";
  return "expected one factor for each model, got two for " + base::Shown(model);
}

ServersAnswer ServersOf(const json& gpu_nodes, const ServersOptions& options) {
  ServersAnswer answer{.description = {{"servers", json::array()}}, .note = "", .error = ""};
  const std::vector<api::GpuNode> all = ParsedGpuNodes(gpu_nodes);
  std::map<std::string, std::pair<const api::GpuNode*, std::map<std::string, Alike>>> nodes;
  std::set<std::string> names, models;
  for (const api::GpuNode& node : all) {
    names.insert(node.name);
    if (!options.nodes.empty() && !options.nodes.contains(node.name)) continue;
    auto by_model = ByModel(node);
    for (const auto& [model, alike] : by_model) models.insert(model);
    if (!by_model.empty()) nodes[node.name] = {&node, std::move(by_model)};
  }
  for (const std::string& name : options.nodes) {
    if (names.contains(name)) continue;
    answer.error = base::Refusal("--node", "a node of " + Listed(names), base::Shown(name));
    return answer;
  }
  answer.error = nodes.empty() ? NoGpus(all, options.nodes) : FaultOfSpeeds(options.speed, models);
  if (!answer.error.empty()) return answer;
  std::set<std::string> not_known;  // nodes
  for (const auto& [name, node] : nodes) {
    const auto& [object, by_model] = node;
    const double link = object->link_bytes_per_s;
    if (link <= 0) not_known.insert(name);
    for (const auto& [model, alike] : by_model) {
      const auto found = options.speed.find(model);
      const double speed = found == options.speed.end() ? 1 : found->second;
      json server = ServerOf(name, alike, speed, link, options.inner_gbit);
      if (by_model.size() > 1) server.update({{"name", name + "/" + model}, {"node", name}});
      answer.description["servers"].push_back(std::move(server));
    }
  }
  const std::size_t servers = answer.description["servers"].size();
  if (servers > pipeline::kMostServers) {
    answer.error = base::Refusal("--node",
                                 "nodes with at most " + std::to_string(pipeline::kMostServers) +
                                     " servers in all (each model of GPU on a node counts as one), the most "
                                     "that a plan takes",
                                 std::to_string(servers));
    return answer;
  }
  if (nodes.size() > 1) answer.note = NoteOf(not_known);
  return answer;
}

int Servers(const Kubectl& kubectl, const ServersOptions& options) {
  const auto refuse = [](const std::string& text, int code) {
    std::fprintf(stderr, "kubectl crossover servers: %s\n", text.c_str());
    return code;
  };
  std::string error;
  const auto gpu_nodes = kubectl.List({"gpunodes.crossover.dev"}, &error);
  if (!gpu_nodes) return refuse(error, 1);
  const ServersAnswer answer = ServersOf(*gpu_nodes, options);
  if (!answer.error.empty()) return refuse(answer.error, 2);
  std::fputs(answer.note.c_str(), stderr);
  return Print(answer.description.dump(2, ' ', false, json::error_handler_t::replace) + "\n") ? 0 : 1;
}

}  // namespace crossover::cli

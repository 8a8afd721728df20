// Runs `kubectl crossover servers`, which describes the live cluster for `crossover plan pipeline --cluster`.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "cli/cluster/kubectl.h"

namespace crossover::cli {

struct ServersOptions {
  std::set<std::string> nodes;          // empty: all
  std::map<std::string, double> speed;  // by model of the GPU
  double inner_gbit = 0;                // between GPUs of a node; 0: not said
};

// Adds the speed that `words` gives a model, MODEL=FACTOR. Returns what is wrong with `words`, or an empty
// string. Pure.
std::string AddSpeed(const std::string& words, ServersOptions* options);

// Prints the description as JSON, and what is not known on standard error. Returns the exit code: 1 if the
// cluster cannot be asked, 2 if an option is refused.
int Servers(const Kubectl& kubectl, const ServersOptions& options);

// A ServersAnswer is a description as pipeline/mapping.h reads it, or an error in one line. `note` is empty,
// or a line that names the nodes whose links have no known speed.
struct ServersAnswer {
  nlohmann::json description;
  std::string note;
  std::string error;  // empty: there is none
};

// Returns a description of the nodes of `gpu_nodes`, a list of GPUNodes with any content, by their names: how
// many GPUs each has that are healthy and given out, their memory, and the speed of the node's link (status
// of GPUNode). A node with GPUs of several models is a server for each of them, NODE/MODEL, with the node in
// `node`. If the GPUs are of several models, each needs its speed in `options`: no object has it. An entry of
// `options` that matches nothing is an error. Pure.
ServersAnswer ServersOf(const nlohmann::json& gpu_nodes, const ServersOptions& options);

}  // namespace crossover::cli

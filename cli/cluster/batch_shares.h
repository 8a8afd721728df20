// Says what is known of a gang whose ranks get parts of the batch by their speed
// (crossover.dev/batch-shares). Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::cli {

// Adds to the explanation, for each gang whose pods ask for shares, the weights that these pods have, and
// what their ranks take for their parts: {"weights": text, "agree": whether all pods have this text, "ranks":
// [{"rank", "computeSeconds", "waitSeconds"}] by their numbers}.
void ExplainShares(const nlohmann::json& pods, const nlohmann::json& gpu_nodes, nlohmann::json* explanation);

// Returns the lines of one gang, or "" if it asks for no shares.
std::string SharesText(const nlohmann::json& shares);

}  // namespace crossover::cli

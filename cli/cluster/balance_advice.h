// Says what jobs that run now would gain if their ranks had parts of the batch by their speed. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::cli {

// Returns for each gang that runs and has more than one rank, the costliest first:
//
//   {"namespace", "gang", "ranks", "shortestSeconds", "longestSeconds", "stepSeconds", "gain"}
//
// or {"namespace", "gang", "why"}, if a gain cannot be told: not all ranks are known, or they send to single
// other ones, as stages of a pipeline and experts do, which have no parts of a batch. Seconds are of one
// iteration; those of a rank are its compute and its wait for a turn. The gain is that of ideal parts
// (common/gains/balance.h). `gpu_nodes` are GPUNodes with any content. Empty `name_space`: all.
nlohmann::json BalanceAdvice(const nlohmann::json& gpu_nodes, const std::string& name_space);

// Returns a line for each gang that would gain 3% or more, and with `wide` for the gangs whose gain is not
// known.
std::string BalanceText(const nlohmann::json& advice, bool wide);

}  // namespace crossover::cli

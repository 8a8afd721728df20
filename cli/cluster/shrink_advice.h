// Says what jobs that run now would gain by compressed reductions (crossover.dev/shrink), beside the jobs
// that share their GPUs. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::cli {

// Returns for each gang that runs, the largest gain first:
//
//   {"namespace", "gang", "beside", "stepSeconds", "bf16Seconds", "q8Seconds", "codecSeconds", "level",
//   "gain"}
//
// or {"namespace", "gang", "why"}, with "stepSeconds" and "beside" if they are known. Seconds are those of
// one step by the model of common/gains/shrink.h: without a codec, with bf16, and with q8. The level is the
// weakest that is enough, and "gain" is that of it. "codecSeconds" has the time of the kernels of each level,
// which is counted in the steps; where it is not known, "codecLeftOut" says why. Of the gang's GPUs the one
// counts whose other jobs compute most. `gpu_nodes` are GPUNodes and `profiles` JobProfiles, with any
// content. Empty `name_space`: all.
nlohmann::json ShrinkAdvice(const nlohmann::json& gpu_nodes, const nlohmann::json& profiles,
                            const std::string& name_space);

// Returns a line for each gang for which a level is advised, and with `wide` for the others.
std::string ShrinkText(const nlohmann::json& advice, bool wide);

// Adds the advice for its gangs to an explanation, but for gangs that ask for a level: their times are with
// it.
void ExplainShrink(const nlohmann::json& gpu_nodes, const nlohmann::json& profiles,
                   nlohmann::json* explanation);
// Returns the line of `kubectl crossover explain` for the advice of one gang; "" for anything else.
std::string ShrinkLine(const nlohmann::json& gang);

}  // namespace crossover::cli

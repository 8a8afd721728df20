// kubectl crossover advise: what sharing would have saved.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/cluster/kubectl.h"
#include "cli/cluster/rounds.h"

namespace crossover::cli {

struct AdviseOptions {
  std::string name_space;  // empty: all
  double days = 30;        // that are looked back
  Showing show;
};
int Advise(const Kubectl& kubectl, const AdviseOptions& options);

// Of the runs that `profiles`, JobProfiles, tell of since `since_s` (1970): for each namespace the GPU hours
// of runs that shared with none, those of which is known what they need, and what these would have needed
// less in pairs. Pure.
//
// A run has shared where status.runs says so of it ("shared"); where it does not say, where status.meetings
// names its gang. What two profiles tell of one run, by gang and beginning, counts once.
//
// Two runs can be a pair where they are of two gangs, have as many GPUs and ran at the same time; each is in
// one at most, the best first. Each job of a pair runs at the part min(1, 1 / sum u) of its own speed, u = c
// / (c + m) its use of the GPU (turn/shares.h: the fluid bound), of which 0.95 is reached
// (placement.efficiency of the extender); a pair that gains under 1.05 is none. Memory, users and
// max-slowdown are not looked at.
nlohmann::json AdviceOf(const nlohmann::json& profiles, double since_s);
std::string AdviceText(const nlohmann::json& advice, bool wide);

}  // namespace crossover::cli

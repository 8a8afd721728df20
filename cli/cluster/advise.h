// Runs `kubectl crossover advise`, which shows what sharing would have saved.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/cluster/kubectl.h"
#include "cli/cluster/rounds.h"

namespace crossover::cli {

struct AdviseOptions {
  std::string name_space;  // empty: all
  double days = 30;        // how far to look back
  Showing show;
};
// Prints the advice and returns the exit code. It is that of AdviceOf(), with "place" as PlaceAdvice()
// returns it, and if GPUNodes may be listed, with "balance" as BalanceAdvice() and "shrink" as ShrinkAdvice()
// return it.
int Advise(const Kubectl& kubectl, const AdviseOptions& options);

// Returns the advice, computed from `profiles`, a list of JobProfiles, for the time since `since_s` (Unix
// seconds). For each namespace the advice has three figures: the GPU hours of the runs that did not share,
// the GPU hours of those among them whose needs are known, and the GPU hours that these would have saved in
// pairs. Pure.
//
// A run shared if status.runs says so ("shared"). If it does not say, the run shared if status.meetings
// names its gang. A run that two profiles report, by gang and start, counts once.
//
// Two runs can form a pair if they belong to two gangs, have the same number of GPUs and ran at the same
// time. A run is in at most one pair. Pairs that save most come first. What a pair gains follows from the use
// of the GPU, u = c / (c + m), and of the link, by the model of common/gains/turns.h, with what turns usually
// reach; a pair counts if the extender would let it share. The use of the link is 0 if the run is on one
// node, if its profile has no linkBytes, and if `link_bytes_per_s`, the speed of a usual link of a node, is
// 0. Memory, user IDs and max-slowdown do not count.
//
// Also lists the runs whose slowest rank has 5% more compute than the rank in the middle (slowest.since in
// status.runs), the latest of each gang. All ranks wait for it: were it like the median, a step c + m would
// be shorter by the difference. Lists the runs in which a rank waits for its input for 3% of a step or more
// (inputWait in status.runs) in the same way. With input in time, a step would be shorter by as much at most.
nlohmann::json AdviceOf(const nlohmann::json& profiles, double since_s, double link_bytes_per_s = 0);
// Returns gains::UsualLink() of the links of `gpu_nodes`, a list of GPUNodes.
double UsualLink(const nlohmann::json& gpu_nodes);
// Returns the advice as a table, the slow ranks, those that wait for input, and the pairs if `wide`.
std::string AdviceText(const nlohmann::json& advice, bool wide);

}  // namespace crossover::cli

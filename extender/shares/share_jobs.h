// Finds the jobs that ask for shares of their batch by speed, and what each of their ranks takes. Pure.
#pragma once

#include <string>
#include <vector>

#include "extender/cluster/cluster_cache.h"
#include "extender/scheduler/scheduler_extender.h"
#include "extender/shares/shares.h"

namespace crossover::extender {

// A ShareJob is one job whose pods have the annotation crossover.dev/batch-shares: "true" and are not over.
struct ShareJob {
  struct Member {
    PodRef pod;
    std::string text;  // its annotation with the weights; empty: none
  };
  std::string id;                // of its gang (Membership::id)
  std::vector<Member> pods;      // by name
  std::vector<RankTimes> ranks;  // by number; empty: not all of them are known
  double measured_s = 0;         // when a node published the oldest of their times
};

// Returns the jobs whose pods ask for shares. The ranks of a job are known if all its pods run, the nodes
// report as many ranks in each pod as it has GPUs, and these are numbered from 0 without a gap.
std::vector<ShareJob> JobsWithShares(const ClusterCache& cache);

}  // namespace crossover::extender

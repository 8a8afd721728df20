// Says where a pod stands among the pods of its gang, so that neighbours in the job become neighbours in the
// cluster. Pure.
//
// NCCL builds its rings over nodes in the order of ranks. Frameworks take the rank of a process from the
// index that the pod's controller gave it (docs/usage.md says which do not).
//
//   JobSet            job-global-index, replicatedjob-name, job-index, job-completion-index
//   LeaderWorkerSet   worker-index
//   PyTorchJob, ..    replica-type, replica-index     (chief, launcher and master come before worker)
//   Job               job-completion-index
//   StatefulSet       pod-index
//   any other pod     its name: a shorter one comes first, so that a-2 comes before a-10
#pragma once

#include <array>
#include <limits>
#include <string>

#include "extender/cluster/model.h"

namespace crossover::extender {

// A PodRank orders the pods of one gang. The order between pods of different gangs has no meaning.
struct PodRank {
  static constexpr long kNone = std::numeric_limits<long>::max();  // no label says it: after all others

  long over_parts = kNone;  // index over all parts of the job
  std::string part;         // part of the job, such as master or worker
  std::array<long, 2> indices = {kNone, kNone};
  std::string name;  // of the pod

  // Returns whether labels say the rank. Else the name decides.
  bool labelled() const { return over_parts != kNone || indices[0] != kNone; }
};

// Returns the rank that the pod's labels and its name say.
PodRank RankOf(const Pod& pod);

// Returns whether `a` comes before `b`. The order is strict and total for pods of different names.
bool operator<(const PodRank& a, const PodRank& b);

// Returns whether a pod with the rank `b` is the one that comes again for a pod with the rank `a`: it has the
// same index, or the same name if no label says an index.
bool StandsFor(const PodRank& a, const PodRank& b);

}  // namespace crossover::extender

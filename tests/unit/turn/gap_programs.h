// Describes jobs that take a turn between each two gaps, as lists of what the compute stream of each rank
// executes.
//
// A job's author writes items: compute, calls of collectives, and waits for them. Lower() adds where a turn
// begins and ends: in front of the first compute after a release, and in front of a wait. A collective runs
// on a stream of its own, never behind a gate. So a call ends at once, and only a wait can block. See
// docs/design/0060-turns-at-every-gap.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "turn/ops.h"

namespace crossover::turn::test {

struct GapItem {
  enum class Kind : std::uint8_t { kCompute, kCall, kWait };
  Kind kind = Kind::kCompute;
  std::uint8_t collective = 0;  // an index of GapProgram::collectives; unused by kCompute
};

// A Collective starts on a rank once the rank has called it and the collectives that the rank has called
// earlier on the same stream have ended. It ends once it has started on all its ranks: those that call it.
struct Collective {
  std::uint8_t stream = 0;
};

struct GapRank {
  std::uint8_t gpu = 0;
  std::uint8_t job = 0;  // also the rank's slot on its GPU
  std::vector<GapItem> items;
};

// A GapProgram has at most kMaxGpus GPUs, kMaxJobs jobs, one rank of a job on a GPU, and kMaxCollectives
// collectives. It ends by itself if no rank takes turns.
struct GapProgram {
  static constexpr int kMaxGpus = 4;
  static constexpr int kMaxJobs = 3;
  static constexpr int kMaxCollectives = 64;
  std::vector<GapRank> ranks;
  std::vector<Collective> collectives;
  int gpus = 0;
};

// Says where a turn ends. All values but kAtWaits are known-bad; kBehindTheCall is so with
// GapOptions::channels. With these, kAtWaits can stop as well: if compute stands between a call and its wait,
// the release stands behind the call.
enum class GapRule : std::uint8_t {
  kAtWaits,            // the shipped rule: each wait releases
  kSomeKeep,           // job A keeps its gaps on GPU 0, job B on GPU 1, and so on, without end
  kEachChoosesToKeep,  // each rank keeps some of its gaps without end: see `choices` of Lower()
  kAllKeep,            // all gaps are kept without end
  kAfterWaits,         // a turn lasts until the collective has ended: it is given back behind the wait
  kBehindTheCall       // as kAtWaits, but never in front of a call: the release may stand behind a collective
};

struct GapStep {
  enum class Kind : std::uint8_t { kAcquire, kCompute, kCall, kRelease, kWait };
  Kind kind = Kind::kCompute;
  std::uint8_t collective = 0;
  TurnNumber turn = 0;  // of kAcquire and kRelease
};
using GapSteps = std::vector<GapStep>;

// Returns the steps of a rank. `choices` has a bit for each wait of the rank, in its order, that
// kEachChoosesToKeep keeps.
GapSteps Lower(const GapRank& rank, GapRule rule, std::uint32_t choices = 0);

// Returns a program of `jobs` jobs, with one rank on each of `gpus` GPUs, whose ranks all have the given
// items. Each job has collectives of its own in place of those that the items name.
GapProgram AlikeRanks(int jobs, int gpus, const std::vector<GapItem>& items);

// Returns a program drawn from `seed`: two or three jobs on two to four GPUs, groups of two ranks or more,
// some compute between a call and its wait, calls of different streams in crossed order, and ranks that take
// no part in some collectives.
GapProgram DrawProgram(std::uint64_t seed);

// Compute(), Call() and WaitFor() make the items of a list.
inline GapItem Compute() { return {GapItem::Kind::kCompute, 0}; }
inline GapItem Call(int collective) { return {GapItem::Kind::kCall, static_cast<std::uint8_t>(collective)}; }
inline GapItem WaitFor(int collective) {
  return {GapItem::Kind::kWait, static_cast<std::uint8_t>(collective)};
}

}  // namespace crossover::turn::test

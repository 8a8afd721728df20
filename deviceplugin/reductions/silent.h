// Finds clients whose owners ask for compressed reductions, and that call NCCL without a word of them: the
// library that compresses does not see their calls. Pure.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "common/base/shrink_level.h"
#include "deviceplugin/pods/pod.h"
#include "deviceplugin/stats/snapshots.h"

namespace crossover::deviceplugin {

// Returns the level that the owner of the pod asks for, if calls are to be narrowed. With auto that is so
// where the extender has chosen a level.
std::optional<base::ShrinkLevel> NarrowsFor(const Pod& pod);

// A SilentClient is such a client, with the level that its owner asks for.
struct SilentClient {
  std::shared_ptr<const arbiter::Member> member;
  base::ShrinkLevel asked;
};

// Returns the clients that have reported calls and nothing of reductions. A library reports what becomes of a
// communicator before the calls on it, on the same connection.
std::vector<SilentClient> SilentAmong(const std::vector<RankView>& ranks, const std::vector<Pod>& pods);

}  // namespace crossover::deviceplugin

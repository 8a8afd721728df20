// How the ranks of a job find each other before NCCL does: rank 0 serves a few bytes over TCP at
// MASTER_ADDR:MASTER_PORT, as torchrun's store does.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/clock.h"
#include "common/base/fd.h"
#include "examples/trainer/options.h"

namespace crossover::trainer {

// Rank 0 hands `bytes` to every other rank, which receives them into its own `bytes`; nobody returns before
// all have come. `job` must be the same on all ranks (a digest of the settings that must agree). Throws
// Failure.
void ShareFromRankZero(const Rank& rank, std::uint64_t job, std::span<char> bytes,
                       std::int64_t timeout = 120 * base::kNsPerSecond);

// A socket that listens at MASTER_ADDR and the port of `rank`, any where that is 0; one that is connected to
// it, and does not block, from `deadline` on at the latest. Both throw Failure.
base::UniqueFd ListenAsMaster(const Rank& rank);
base::UniqueFd ConnectToMaster(const Rank& rank, std::int64_t deadline);

}  // namespace crossover::trainer

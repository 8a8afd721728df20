// Brings the ranks of a job together before NCCL does. Rank 0 serves a few bytes over TCP at
// MASTER_ADDR:MASTER_PORT, as torchrun's store does.
#pragma once

#include <cstdint>
#include <span>

#include "common/base/clock.h"
#include "common/base/fd.h"
#include "examples/trainer/options.h"

namespace crossover::trainer {

// Sends `bytes` of rank 0 to every other rank, which receives them into its own `bytes`. Returns once all
// ranks have come. `job` must be the same on all ranks: it is a digest of the settings that must agree.
// Throws Failure.
void ShareFromRankZero(const Rank& rank, std::uint64_t job, std::span<char> bytes,
                       std::int64_t timeout = 120 * base::kNsPerSecond);

// ListenAsMaster() returns a socket that listens at MASTER_ADDR and the port of `rank`, or at any port if
// that is 0. ConnectToMaster() returns a non-blocking socket that is connected to it; it gives up once
// `deadline` has passed. Both throw Failure.
base::UniqueFd ListenAsMaster(const Rank& rank);
base::UniqueFd ConnectToMaster(const Rank& rank, std::int64_t deadline);

}  // namespace crossover::trainer

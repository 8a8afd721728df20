// Makes small clusters and jobs for tests.
#pragma once

#include <string>
#include <vector>

#include "extender/placement/engine.h"

namespace crossover::placement {

inline constexpr Bytes kGib = 1u << 30;

// Returns nodes "n0", "n1", ..., each with GPUs "n0-0", "n0-1", ... of 80 GiB and two slots.
std::vector<Node> Nodes(int nodes, int gpus);

// Returns a gang of namespace "team": pods of one GPU, a cap of 20 GiB, and a measured profile of c = m =
// 10 ms.
Gang Job(const std::string& id, int gpus = 4);

Placed On(const Gang& gang, std::vector<Seat> seats);
// Places `gang` on all GPUs of `nodes`, one pod on each.
Placed OnAll(const Gang& gang, const std::vector<Node>& nodes);

// Returns the state after the plans of `decision` have been carried out.
State After(State state, const std::vector<Gang>& waiting, const Decision& decision);

const Plan* PlanFor(const Decision& decision, const std::string& gang);
const Refusal* RefusalOf(const Decision& decision, const std::string& gang);
// Returns the UUIDs of the GPUs of all seats of the plan, sorted.
std::vector<std::string> GpusOf(const Plan& plan);

}  // namespace crossover::placement

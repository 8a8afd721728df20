// Small clusters and jobs for tests.
#pragma once

#include <string>
#include <vector>

#include "extender/placement/engine.h"

namespace crossover::placement {

inline constexpr Bytes kGib = 1u << 30;

// "n0", "n1", ...: GPUs "n0-0", "n0-1", ... of 80 GiB and two slots each.
std::vector<Node> Nodes(int nodes, int gpus);

// Of namespace "team": pods of one GPU, a cap of 20 GiB, and a measured profile of c = m = 10 ms.
Gang Job(const std::string& id, int gpus = 4);

Placed On(const Gang& gang, std::vector<Seat> seats);
// All the GPUs of these nodes.
Placed OnAll(const Gang& gang, const std::vector<Node>& nodes);

// What is there after the plans were carried out.
State After(State state, const std::vector<Gang>& waiting, const Decision& decision);

const Plan* PlanFor(const Decision& decision, const std::string& gang);
const Refusal* RefusalOf(const Decision& decision, const std::string& gang);
// Of a plan's seats.
std::vector<std::string> GpusOf(const Plan& plan);

}  // namespace crossover::placement

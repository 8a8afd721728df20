// Executes the shipped pass of the explorer's arbiter on a World, one access at a time.
#pragma once

#include "tests/unit/turn/explorer.h"
#include "tests/unit/turn/explorer_world.h"

namespace crossover::turn::test {

// Begins a pass that wants the token for `want`, a slot or options.clients for no slot.
void BeginPass(World* world, std::uint8_t want, bool preempts);
// Executes one more access of the pass. Returns true if the pass has ended instead.
bool StepArbiter(const ExplorerOptions& options, World* world);
// Ends the pass where it is. Its accesses so far stand.
void EndPass(World* world);

}  // namespace crossover::turn::test

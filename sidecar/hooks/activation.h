// When the library wakes up: at the first communicator of more than one rank on a GPU, in a process that
// CROSSOVER_GANG names, and never before. Until then, and in a forked child, everything passes untouched.
#pragma once

namespace crossover::hooks {

// Whether anything is to be watched in this process at all.
bool Active();

// The calling thread made, or uses for the first time, a communicator of `ranks` ranks on its current GPU.
void OnCommunicator(const void* comm, int ranks, int rank);

}  // namespace crossover::hooks

// Runs one rank of a training run, from its flags to its log.
#pragma once

#include "examples/trainer/dataset.h"
#include "examples/trainer/options.h"
#include "examples/trainer/signals.h"

namespace crossover::trainer {

// Trains, writes the log and prints (rank 0 only). Returns the exit code. Throws Failure if something
// breaks, except at the end of a stopped run.
int TrainRank(const Options& options, const Rank& rank, const Dataset& dataset, Signals& signals);

// Runs the whole program. Returns 0 if it is done or was stopped by a signal, 1 if it failed, 2 if flags,
// environment or data are wrong.
int Main(int argc, char** argv);

}  // namespace crossover::trainer

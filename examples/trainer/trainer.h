// One rank of a training run, from its flags to its log.
#pragma once

#include "examples/trainer/dataset.h"
#include "examples/trainer/options.h"
#include "examples/trainer/signals.h"

namespace crossover::trainer {

// Trains, writes the log, prints (rank 0). Returns the exit code; throws Failure where something breaks that
// is not the end of a stopped run.
int TrainRank(const Options& options, const Rank& rank, const Dataset& dataset, Signals& signals);

// The whole program: 0 done or stopped by a signal, 1 failed, 2 wrong flags, environment or data.
int Main(int argc, char** argv);

}  // namespace crossover::trainer

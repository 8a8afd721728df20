// Runs one rank of a pipeline, from its flags to its log.
#pragma once

#include "examples/trainer/dataset.h"
#include "examples/trainer/options.h"
#include "examples/trainer/signals.h"
#include "examples/trainer/stages.h"

namespace crossover::trainer {

// Trains the blocks of this rank, writes the log and prints (rank 0 only). All ranks end with the losses and
// the parameters of the whole model. Returns the exit code. Throws Failure if something breaks, except at the
// end of a stopped run. REQUIRES: `stages` are for as many ranks.
int TrainStage(const Options& options, const Rank& rank, const Stages& stages, const Dataset& dataset,
               Signals& signals);

}  // namespace crossover::trainer

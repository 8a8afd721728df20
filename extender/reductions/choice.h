// Chooses the level of compressed reductions for a gang whose owner leaves it to the cluster
// (crossover.dev/shrink: auto), when the gang gets its GPUs. Pure.
//
// The level is the one that common/gains/shrink.h advises, by the times of the gang and of those that share
// its GPUs. It stays as long as the gang has its GPUs, and jobs beside it come and go. So a gang that is
// alone there counts as beside one like itself: such a neighbour hides a wait that is as long as the compute,
// and what is longer is worth compressing.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "common/base/shrink_choice.h"
#include "extender/cluster/model.h"
#include "extender/placement/model.h"

namespace crossover::extender {

// An Occupant is a gang and its GPUs. Both live longer than the Occupant.
struct Occupant {
  const placement::Gang* gang = nullptr;
  const std::vector<placement::Seat>* seats = nullptr;
};

// A ShrinkQuestion has what the choice depends on. The profile of `own.gang` is of runs without compression.
struct ShrinkQuestion {
  Occupant own;
  std::span<const Occupant> others;  // with any GPUs; `own` is not among them
  std::span<const placement::Node> nodes;
  const JobProfile* profile = nullptr;  // of the same runs; null: there is none
};

struct ShrinkChosen {
  base::ShrinkChoice choice;
  std::string why;  // a part of a sentence, with the figures that led to it
};

ShrinkChosen ChooseShrink(const ShrinkQuestion& question);

}  // namespace crossover::extender

// Gives GPUs to gangs, one after the other, on top of an Occupancy, and keeps the list of what it gave. Pure.
#pragma once

#include <vector>

#include "extender/placement/joins.h"

namespace crossover::placement {

struct Step {
  const Gang* gang = nullptr;
  std::vector<GpuRef> gpus;
  std::vector<const Gang*> beside{};
  Prediction prediction{};  // of `beside`, and of the gang, last
};

class Filler {
 public:
  // `terms` must outlive it.
  Filler(Occupancy occupancy, const Terms& terms) : occupancy_(std::move(occupancy)), terms_(&terms) {}

  // Each says whether it did.
  //
  // Free GPUs, where `with` could join afterwards: not joined yet. Null: nobody is to.
  bool Open(const Gang& gang, const Gang* with = nullptr);
  bool Join(const Gang& gang, int group);
  // To the group where that adds the most.
  bool JoinBest(const Gang& gang);
  // Keeps GPUs that it could have if nobody were there, if no more than that part of them is busy: those that
  // were kept for it before, if they still will do. They are returned.
  std::vector<GpuRef> Keep(const Gang& gang, double busy_part);

  const Occupancy& occupancy() const { return occupancy_; }
  const std::vector<Step>& steps() const { return steps_; }
  // The group that was opened last.
  int last() const { return static_cast<int>(occupancy_.groups().size()) - 1; }

 private:
  Occupancy occupancy_;
  const Terms* terms_;
  std::vector<Step> steps_;
};

// One seat per pod of `gpus_per_pod` GPUs each, which are on one node.
std::vector<Seat> SeatsOn(const State& state, std::span<const GpuRef> gpus, int gpus_per_pod);

}  // namespace crossover::placement

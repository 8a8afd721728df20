// Gives GPUs to gangs, one gang after the other, on top of an Occupancy, and keeps a list of what it gave.
// Pure.
#pragma once

#include <vector>

#include "extender/placement/join_rules.h"

namespace crossover::placement {

// A Step records that one gang got GPUs, beside those that had them already.
struct Step {
  const Gang* gang = nullptr;
  std::vector<GpuRef> gpus;
  std::vector<const Gang*> beside{};
  Prediction prediction{};  // for `beside` in their order, and for the gang, last
};

class Allocator {
 public:
  // REQUIRES: `context` and the gangs that are passed in outlive the Allocator.
  Allocator(Occupancy occupancy, const Context& context)
      : occupancy_(std::move(occupancy)), context_(&context) {}

  // Gives `gang` free GPUs, as a new group. If `with` is not null, the GPUs have slots and memory for both,
  // so that `with` can join next; Open() itself does not join it. Returns false and changes nothing if there
  // are no such GPUs.
  bool Open(const Gang& gang, const Gang* with = nullptr);
  // Adds `gang` to the group with this index. Returns false and changes nothing if a rule forbids it.
  bool Join(const Gang& gang, int group);
  // Adds `gang` to the group for which that raises the gain the most. Returns false and changes nothing if
  // there is no such group.
  bool JoinBest(const Gang& gang);
  // Keeps GPUs for `gang` that it could have if the cluster were empty, and returns them. If the gang's pods
  // have to be the only ones on a node, this keeps all GPUs of that node. Prefers the GPUs that were kept for
  // the gang before, if they are still suitable. Returns none, and keeps none, if there are no such GPUs or
  // if more than `busy_part` (0 to 1) of them are busy.
  std::vector<GpuRef> Keep(const Gang& gang, double busy_part);

  // Keeps these GPUs for a gang that gets them later. What else its pods take of the nodes counts at once.
  void Claim(const Gang& gang, std::span<const GpuRef> gpus) { occupancy_.Claim(gang, gpus); }

  const Occupancy& occupancy() const { return occupancy_; }
  const std::vector<Step>& steps() const { return steps_; }
  // Returns the index of the group that was opened last.
  int last() const { return static_cast<int>(occupancy_.groups().size()) - 1; }

 private:
  Occupancy occupancy_;
  const Context* context_;
  std::vector<Step> steps_;
};

// Returns `gpus`, split into seats of `gpus_per_pod` GPUs of one node. The last seat of a node is smaller if
// the node's number of GPUs is no multiple of that. The seats of one topology domain follow each other, at
// each level of the domains, so that a ring over the seats enters each domain once. REQUIRES: `gpus` is
// ascending.
std::vector<Seat> SeatsOn(const State& state, std::span<const GpuRef> gpus, int gpus_per_pod);

}  // namespace crossover::placement

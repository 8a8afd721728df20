// Divides the blocks of a model into stages, so that an iteration of the pipeline is as short as possible.
// Pure.
//
// The time of a division is that of the simulation (simulate.h). If there are few divisions all are tried.
// Else the search begins with the division whose longest stage is shortest, which is exact by bisection, and
// with others, and moves runs of borders by one block as long as that helps. Memory is a hard limit. A device
// keeps the activations of as many micro-batches as the order of its operations says: those of stage s of P
// are min(P - s, M) of M micro-batches by 1F1B, and M by GPipe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/profile.h"
#include "pipeline/schedule.h"
#include "pipeline/simulate.h"

namespace crossover::pipeline {

// A Device says what is special about the device of a stage. Its link is to the device of the next stage, and
// that of the last device to the first one.
struct Device {
  double speed = 1;             // its times are those of the profile, divided by this
  std::uint64_t memory = 0;     // bytes; 0: no limit
  Time latency = 0;             // of the link, ns
  double bytes_per_second = 0;  // of the link; 0: transfers take only the latency
};

struct Problem {
  std::vector<Block> blocks;
  std::vector<Device> devices;  // one for each stage
  int microbatches = 1;
  Kind kind = Kind::kOneForwardOneBackward;
  int chunks_per_device = 1;
  double slice_cost = 0;  // Costs::slice_cost
  // Each byte of parameters needs so many bytes: parameters, gradients and the optimiser's state.
  double state_factor = 4;
  // All divisions are tried if there are at most so many.
  std::int64_t most_to_try = 20'000;
  std::int64_t most_operations = 30'000'000;  // that the search simulates; about half a second

  int chunks() const { return static_cast<int>(devices.size()) * chunks_per_device; }
  Shape shape(int sliced = 0) const {
    return {kind, static_cast<int>(devices.size()), chunks_per_device, microbatches, sliced};
  }
};

// A Division says where each chunk begins: chunk c has the blocks from borders[c] to borders[c + 1].
struct Division {
  std::vector<std::size_t> borders;
  int sliced = 0;  // micro-batches whose forward passes are halved
  Time time = kNever;
};

// Returns "" if the problem can be solved, else what is wrong, in words.
std::string FaultOf(const Problem& problem);

// Returns the costs of the chunks of a division.
Costs CostsOf(const Problem& problem, const std::vector<std::size_t>& borders);

// Returns how many bytes the devices lack for their chunks, all together.
double LackingBytes(const Problem& problem, const std::vector<std::size_t>& borders);

// Returns whether each device has the memory for its chunks.
bool Fits(const Problem& problem, const std::vector<std::size_t>& borders);

// Returns the time of a division without slices, or kNever if it does not fit.
Time TimeOf(const Problem& problem, const std::vector<std::size_t>& borders);

// Returns the best division that was found, without slices; none if none was found that fits. REQUIRES: the
// problem has no fault.
std::optional<Division> Divide(const Problem& problem);

// Returns the same division with the number of halved micro-batches that makes it shortest, and of those the
// least. It looks at as many numbers as the budget permits, and at least at those up to that of the stages.
// Only the 1F1B schedule is sliced.
Division Slice(const Problem& problem, Division division);

// Returns the division with equal numbers of blocks in all chunks, as far as that is possible.
std::vector<std::size_t> EvenBorders(const Problem& problem);

// Returns the division whose longest chunk is shortest, by forward and backward pass.
std::vector<std::size_t> BalancedBorders(const Problem& problem);

}  // namespace crossover::pipeline

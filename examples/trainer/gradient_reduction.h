// Reduces the gradients of all buckets at once, at the end of the backward pass, by a reduction other than a
// sum. The host does the arithmetic and waits for the GPU before and after, so nothing of it runs beside the
// backward pass: this is a reference for what is computed and what travels, not for time. Calls throw
// Failure.
#pragma once

#include <memory>
#include <vector>

#include "examples/reductions/reducer.h"
#include "examples/trainer/buckets.h"
#include "examples/trainer/nccl_peers.h"

namespace crossover::trainer {

class GradientReduction {
 public:
  // All ranks call this at the same time: they make communicators, and tell each other who shares a node.
  // REQUIRES: the first four arguments outlive it.
  GradientReduction(Gpu& gpu, Communicator& communicator, const BucketPlan& plan, const Rank& rank,
                    const Options& options);

  // Replaces the buckets in device memory by what takes the place of their sum over ranks. The compute stream
  // has written them, and reads them afterwards.
  void Reduce(float* buckets, std::uint64_t iteration);

 private:
  std::unique_ptr<NcclPeers> Group(std::size_t color, std::size_t place, std::size_t size);

  Gpu& gpu_;
  Communicator& communicator_;
  const BucketPlan& plan_;
  std::unique_ptr<NcclPeers> all_, within_, across_;  // some may be null
  std::unique_ptr<reductions::Reducer> reducer_;
  std::vector<float> in_buckets_, in_order_;
};

// Returns the borders of the tensors among the parameters: weights and biases of each layer, then the padding
// as a tensor of its own.
std::vector<std::size_t> TensorBorders(std::size_t total);

}  // namespace crossover::trainer

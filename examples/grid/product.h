// Computes Y = X A and both gradients on a grid of ranks, with NCCL. One thread uses it. Calls throw
// trainer::Failure.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/grid/multiply.h"
#include "examples/grid/options.h"
#include "examples/trainer/communicator.h"

namespace crossover::grid {

// A Wrong counts the elements of a rank that differ from those that one process computes.
struct Wrong {
  std::uint64_t y = 0, gradient_of_x = 0, gradient_of_a = 0;
};

class Product {
 public:
  // Splits the communicator into the rows, the columns and the ranks that stand behind each other in the
  // layers, so that all ranks must make one at the same time.
  Product(const Options& options, std::uint32_t rank, Multiplier& gpu, trainer::Communicator& communicator);

  // Queues one product and its two gradients.
  void Run();
  // Waits for all that was queued, and compares this rank's blocks of the results.
  Wrong Compare();

 private:
  // A Held is a block in device memory, stored row by row.
  struct Held {
    CUdeviceptr data = 0;
    std::uint32_t rows = 0, columns = 0;

    std::size_t count() const { return std::size_t{rows} * columns; }
    float* floats() const { return reinterpret_cast<float*>(data); }
    View view() const { return {data, columns, 1}; }
    View transposed() const { return {data, 1, columns}; }
  };

  Held Make(const Block& block);
  // Returns the block of X of the rank in the `step`-th column of this row, and that of A of the rank in the
  // `step`-th row of this column: both are sent to all ranks of the row or column.
  const Held& FetchX(std::uint32_t step);
  const Held& FetchA(std::uint32_t step);
  void Multiply(const View& a, const View& b, const Held& to, std::uint32_t inner, bool add);
  void ComputeY();
  void ComputeGradientOfX();
  void ComputeGradientOfA();

  const Options& options_;
  const Place place_;
  Multiplier& gpu_;
  trainer::Communicator& communicator_;
  const std::size_t row_, column_, behind_;  // splits
  const Held x_, a_, gradient_of_y_;
  const Held y_, gradient_of_x_, gradient_of_a_;
  const Held fetched_x_, fetched_a_;  // what another rank has sent
  const Held part_of_x_, part_of_a_;  // a part of another rank's sum
};

}  // namespace crossover::grid

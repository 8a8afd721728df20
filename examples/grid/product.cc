#include "examples/grid/product.h"

#include "examples/grid/matrices.h"

namespace crossover::grid {
namespace {

// Returns the colors of a rank's splits. Each is a number that no other row, column or stack of layers has.
int ColorOfRow(const Grid& grid, const Place& place) {
  return static_cast<int>(place.layer * grid.q + place.row);
}
int ColorOfColumn(const Grid& grid, const Place& place) {
  return static_cast<int>(place.layer * grid.q + place.column);
}
int ColorBehind(const Grid& grid, const Place& place) {
  return static_cast<int>(place.row * grid.q + place.column);
}

std::uint64_t Differing(const std::vector<float>& got, const std::vector<float>& expected) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) count += got[i] != expected[i];
  return count;
}

}  // namespace

Product::Product(const Options& options, std::uint32_t rank, Multiplier& gpu,
                 trainer::Communicator& communicator)
    : options_(options),
      place_(PlaceOf(options.grid, options.numbering, rank)),
      gpu_(gpu),
      communicator_(communicator),
      row_(communicator.Split(ColorOfRow(options.grid, place_))),
      column_(communicator.Split(ColorOfColumn(options.grid, place_))),
      behind_(communicator.Split(ColorBehind(options.grid, place_))),
      x_(Make(BlockOfX(options.grid, options.sizes, place_))),
      a_(Make(BlockOfA(options.grid, options.sizes, place_))),
      gradient_of_y_(Make(BlockOfY(options.grid, options.sizes, place_))),
      y_(Make(BlockOfY(options.grid, options.sizes, place_))),
      gradient_of_x_(Make(BlockOfX(options.grid, options.sizes, place_))),
      gradient_of_a_(Make(BlockOfA(options.grid, options.sizes, place_))),
      fetched_x_(Make(BlockOfX(options.grid, options.sizes, place_))),
      fetched_a_(Make(BlockOfA(options.grid, options.sizes, place_))),
      part_of_x_(Make(BlockOfX(options.grid, options.sizes, place_))),
      part_of_a_(Make(BlockOfA(options.grid, options.sizes, place_))) {
  gpu_.Upload(x_.data, Given(Matrix::kX, BlockOfX(options.grid, options.sizes, place_)));
  gpu_.Upload(a_.data, Given(Matrix::kA, BlockOfA(options.grid, options.sizes, place_)));
  gpu_.Upload(gradient_of_y_.data,
              Given(Matrix::kGradientOfY, BlockOfY(options.grid, options.sizes, place_)));
}

Product::Held Product::Make(const Block& block) {
  return {gpu_.Allocate(block.count()), block.rows, block.columns};
}

const Product::Held& Product::FetchX(std::uint32_t step) {
  communicator_.Broadcast(row_, static_cast<int>(step), x_.floats(), fetched_x_.floats(), x_.count(),
                          gpu_.stream());
  return fetched_x_;
}

const Product::Held& Product::FetchA(std::uint32_t step) {
  communicator_.Broadcast(column_, static_cast<int>(step), a_.floats(), fetched_a_.floats(), a_.count(),
                          gpu_.stream());
  return fetched_a_;
}

void Product::Multiply(const View& a, const View& b, const Held& to, std::uint32_t inner, bool add) {
  gpu_.Multiply(a, b, to.data, {to.rows, to.columns, inner}, add,
                static_cast<std::uint64_t>(options_.product_ms * 1e6));
}

void Product::Run() {
  ComputeY();
  ComputeGradientOfX();
  ComputeGradientOfA();
}

// Y[i, j] is the sum of X[i, t] A[t, j] over t.
void Product::ComputeY() {
  for (std::uint32_t step = 0; step < options_.grid.q; ++step) {
    const Held& x = FetchX(step);
    const Held& a = FetchA(step);
    Multiply(x.view(), a.view(), y_, x.columns, step > 0);
  }
}

// The gradient of X[i, t] is the sum of dY[i, j] A[t, j]^T over j: the ranks of a row add it up.
void Product::ComputeGradientOfX() {
  for (std::uint32_t step = 0; step < options_.grid.q; ++step) {
    const Held& a = FetchA(step);
    Multiply(gradient_of_y_.view(), a.transposed(), part_of_x_, a.columns, false);
    communicator_.ReduceSum(row_, static_cast<int>(step), part_of_x_.floats(), gradient_of_x_.floats(),
                            part_of_x_.count(), gpu_.stream());
  }
}

// The gradient of A[t, j] is the sum of X[i, t]^T dY[i, j] over i, which the ranks of a column add up, and
// over the layers.
void Product::ComputeGradientOfA() {
  for (std::uint32_t step = 0; step < options_.grid.q; ++step) {
    const Held& x = FetchX(step);
    Multiply(x.transposed(), gradient_of_y_.view(), part_of_a_, x.rows, false);
    communicator_.ReduceSum(column_, static_cast<int>(step), part_of_a_.floats(), gradient_of_a_.floats(),
                            part_of_a_.count(), gpu_.stream());
  }
  if (options_.fault == Fault::kNoLayerSum) return;
  communicator_.AllReduceSum(behind_, gradient_of_a_.floats(), gradient_of_a_.count(), gpu_.stream());
}

Wrong Product::Compare() {
  gpu_.Synchronize();
  const Grid& grid = options_.grid;
  const Sizes& sizes = options_.sizes;
  const auto differing = [this](const Held& held, const std::vector<float>& expected) {
    return Differing(gpu_.Download(held.data, held.count()), expected);
  };
  return {.y = differing(y_, SerialY(BlockOfY(grid, sizes, place_), sizes.inner)),
          .gradient_of_x =
              differing(gradient_of_x_, SerialGradientOfX(BlockOfX(grid, sizes, place_), sizes.columns)),
          .gradient_of_a =
              differing(gradient_of_a_, SerialGradientOfA(BlockOfA(grid, sizes, place_), sizes.rows))};
}

}  // namespace crossover::grid

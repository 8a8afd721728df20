#include "examples/grid/layout.h"

#include "common/base/refusal.h"

namespace crossover::grid {

Place PlaceOf(const Grid& grid, Numbering numbering, std::uint32_t rank) {
  const std::uint32_t square = grid.q * grid.q;
  const std::uint32_t layer = numbering == Numbering::kRows ? rank / square : rank % grid.d;
  const std::uint32_t within = numbering == Numbering::kRows ? rank % square : rank / grid.d;
  return {.row = within / grid.q, .column = within % grid.q, .layer = layer};
}

std::optional<std::string> Misfit(const Grid& grid, const Sizes& sizes) {
  const auto multiple = [](const char* key, std::uint32_t value,
                           std::uint32_t of) -> std::optional<std::string> {
    if (value > 0 && value % of == 0) return std::nullopt;
    return base::Refusal(key, "a multiple of " + std::to_string(of), std::to_string(value));
  };
  if (auto wrong = multiple("--rows", sizes.rows, grid.q * grid.d)) return wrong;
  if (auto wrong = multiple("--inner", sizes.inner, grid.q)) return wrong;
  return multiple("--columns", sizes.columns, grid.q * grid.d);
}

Block BlockOfX(const Grid& grid, const Sizes& sizes, const Place& place) {
  const std::uint32_t rows = sizes.rows / (grid.d * grid.q), columns = sizes.inner / grid.q;
  return {(place.layer * grid.q + place.row) * rows, place.column * columns, rows, columns};
}

Block BlockOfA(const Grid& grid, const Sizes& sizes, const Place& place) {
  const std::uint32_t rows = sizes.inner / grid.q, columns = sizes.columns / grid.q;
  return {place.row * rows, place.column * columns, rows, columns};
}

Block BlockOfY(const Grid& grid, const Sizes& sizes, const Place& place) {
  const std::uint32_t rows = sizes.rows / (grid.d * grid.q), columns = sizes.columns / grid.q;
  return {(place.layer * grid.q + place.row) * rows, place.column * columns, rows, columns};
}

std::uint64_t BytesFromLayers(const Grid& grid, const Sizes& sizes) {
  const std::uint64_t block = BlockOfA(grid, sizes, {}).count() * sizeof(float);
  return 2 * (grid.d - 1) * (block / grid.d);
}

std::uint64_t BytesReceived(const Grid& grid, const Sizes& sizes) {
  const std::uint64_t x = BlockOfX(grid, sizes, {}).count() * sizeof(float);
  const std::uint64_t a = BlockOfA(grid, sizes, {}).count() * sizeof(float);
  return 3 * (grid.q - 1) * (x + a) + BytesFromLayers(grid, sizes);
}

}  // namespace crossover::grid

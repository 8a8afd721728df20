#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "examples/grid/layout.h"
#include "examples/grid/matrices.h"

namespace crossover::grid {
namespace {

TEST(GridLayoutTest, EachRankHasAPlaceOfItsOwn) {
  const Grid grid{.q = 3, .d = 2};
  for (const Numbering numbering : {Numbering::kRows, Numbering::kLayers}) {
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> places;
    for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) {
      const Place place = PlaceOf(grid, numbering, rank);
      places.insert({place.row, place.column, place.layer});
      EXPECT_LT(place.row, 3u);
      EXPECT_LT(place.column, 3u);
      EXPECT_LT(place.layer, 2u);
    }
    EXPECT_EQ(places.size(), 18u);
  }
}

TEST(GridLayoutTest, ConsecutiveRanksFillARowOrTheLayers) {
  const Grid grid{.q = 2, .d = 3};
  EXPECT_EQ(PlaceOf(grid, Numbering::kRows, 1), (Place{.row = 0, .column = 1, .layer = 0}));
  EXPECT_EQ(PlaceOf(grid, Numbering::kRows, 4), (Place{.row = 0, .column = 0, .layer = 1}));
  EXPECT_EQ(PlaceOf(grid, Numbering::kLayers, 1), (Place{.row = 0, .column = 0, .layer = 1}));
  EXPECT_EQ(PlaceOf(grid, Numbering::kLayers, 3), (Place{.row = 0, .column = 1, .layer = 0}));
}

TEST(GridLayoutTest, BlocksCoverEachMatrixOncePerLayerThatHasIt) {
  const Grid grid{.q = 2, .d = 2};
  const Sizes sizes{.rows = 8, .inner = 6, .columns = 4};
  std::uint32_t x = 0, a = 0, y = 0;
  for (std::uint32_t rank = 0; rank < grid.ranks(); ++rank) {
    const Place place = PlaceOf(grid, Numbering::kRows, rank);
    x += BlockOfX(grid, sizes, place).count();
    a += BlockOfA(grid, sizes, place).count();
    y += BlockOfY(grid, sizes, place).count();
  }
  EXPECT_EQ(x, 8u * 6);
  EXPECT_EQ(a, 2u * 6 * 4);
  EXPECT_EQ(y, 8u * 4);
  const Block last = BlockOfX(grid, sizes, {.row = 1, .column = 1, .layer = 1});
  EXPECT_EQ(last.first_row, 6u);
  EXPECT_EQ(last.first_column, 3u);
}

TEST(GridLayoutTest, OneLayerIsASquareAndOneColumnIsDataParallel) {
  const Sizes sizes{.rows = 64, .inner = 32, .columns = 16};
  EXPECT_EQ(BytesFromLayers({.q = 4, .d = 1}, sizes), 0u);
  EXPECT_EQ(BytesReceived({.q = 4, .d = 1}, sizes), 3u * 3 * (64 * 32 + 32 * 16) / 16 * 4);
  EXPECT_EQ(BytesReceived({.q = 1, .d = 16}, sizes), BytesFromLayers({.q = 1, .d = 16}, sizes));
  EXPECT_EQ(BytesFromLayers({.q = 1, .d = 16}, sizes), 2u * 15 * 32 * 16 * 4 / 16);
}

TEST(GridLayoutTest, SizesThatDoNotDivideAreNamed) {
  const Grid grid{.q = 2, .d = 3};
  EXPECT_EQ(Misfit(grid, {.rows = 12, .inner = 4, .columns = 6}), std::nullopt);
  EXPECT_EQ(Misfit(grid, {.rows = 10, .inner = 4, .columns = 6}), "--rows: expected a multiple of 6, got 10");
  EXPECT_EQ(Misfit(grid, {.rows = 12, .inner = 5, .columns = 6}), "--inner: expected a multiple of 2, got 5");
  EXPECT_EQ(Misfit(grid, {.rows = 12, .inner = 4, .columns = 8}),
            "--columns: expected a multiple of 6, got 8");
  EXPECT_EQ(Misfit(grid, {.rows = 0, .inner = 4, .columns = 6}), "--rows: expected a multiple of 6, got 0");
}

TEST(GridMatricesTest, SerialProductsAreThoseOfTheElements) {
  const Block one{.first_row = 2, .first_column = 1, .rows = 1, .columns = 1};
  float y = 0, of_x = 0, of_a = 0;
  for (std::uint32_t i = 0; i < 5; ++i) {
    y += Element(Matrix::kX, 2, i) * Element(Matrix::kA, i, 1);
    of_x += Element(Matrix::kGradientOfY, 2, i) * Element(Matrix::kA, 1, i);
    of_a += Element(Matrix::kX, i, 2) * Element(Matrix::kGradientOfY, i, 1);
  }
  EXPECT_EQ(SerialY(one, 5), std::vector<float>{y});
  EXPECT_EQ(SerialGradientOfX(one, 5), std::vector<float>{of_x});
  EXPECT_EQ(SerialGradientOfA(one, 5), std::vector<float>{of_a});
}

}  // namespace
}  // namespace crossover::grid

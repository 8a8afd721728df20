#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "simgpu/kernels/halves.h"
#include "simgpu/nccl/arithmetic.h"

namespace simgpu::nccl {
namespace {

template <typename T>
std::vector<T> Folded(std::vector<T> into, const std::vector<T>& from, ncclDataType_t type, ncclRedOp_t op) {
  Fold(into.data(), from.data(), into.size(), type, op);
  return into;
}

TEST(FoldTest, Float32) {
  const std::vector<float> a{1.5f, -2.0f, 0.1f};
  const std::vector<float> b{2.0f, 3.0f, 0.2f};
  EXPECT_EQ(Folded(a, b, ncclFloat32, ncclSum), (std::vector<float>{3.5f, 1.0f, 0.1f + 0.2f}));
  EXPECT_EQ(Folded(a, b, ncclFloat32, ncclProd), (std::vector<float>{3.0f, -6.0f, 0.1f * 0.2f}));
  EXPECT_EQ(Folded(a, b, ncclFloat32, ncclMax), (std::vector<float>{2.0f, 3.0f, 0.2f}));
  EXPECT_EQ(Folded(a, b, ncclFloat32, ncclMin), (std::vector<float>{1.5f, -2.0f, 0.1f}));
}

TEST(FoldTest, IntegersWrap) {
  EXPECT_EQ(Folded<std::uint8_t>({250}, {10}, ncclUint8, ncclSum), std::vector<std::uint8_t>{4});
  EXPECT_EQ(Folded<std::int32_t>({2147483647}, {1}, ncclInt32, ncclSum),
            std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min()});
  EXPECT_EQ(Folded<std::int64_t>({-3}, {5}, ncclInt64, ncclProd), std::vector<std::int64_t>{-15});
  EXPECT_EQ(Folded<std::uint32_t>({0xffffffff}, {0xffffffff}, ncclUint32, ncclProd),
            std::vector<std::uint32_t>{1});
}

TEST(FoldTest, SignDecidesMax) {
  EXPECT_EQ(Folded<std::int8_t>({-1}, {1}, ncclInt8, ncclMax), std::vector<std::int8_t>{1});
  EXPECT_EQ(Folded<std::uint8_t>({255}, {1}, ncclUint8, ncclMax), std::vector<std::uint8_t>{255});
}

TEST(FoldTest, UnalignedBuffers) {
  std::vector<unsigned char> a(9), b(9);
  const double x = 0.25;
  std::memcpy(a.data() + 1, &x, 8);
  std::memcpy(b.data() + 1, &x, 8);
  Fold(a.data() + 1, b.data() + 1, 1, ncclFloat64, ncclSum);
  double sum = 0;
  std::memcpy(&sum, a.data() + 1, 8);
  EXPECT_EQ(sum, 0.5);
}

TEST(DivideTest, FloatsAndIntegers) {
  std::vector<float> floats{6, 7};
  Divide(floats.data(), 2, ncclFloat32, 4);
  EXPECT_EQ(floats, (std::vector<float>{1.5f, 1.75f}));
  std::vector<std::int32_t> ints{7, -7};
  Divide(ints.data(), 2, ncclInt32, 2);
  EXPECT_EQ(ints, (std::vector<std::int32_t>{3, -3}));
}

TEST(HalfTest, EveryValueSurvivesTheWayThere) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float wide = HalfToFloat(half);
    if (std::isnan(wide)) {
      EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(wide)))) << bits;
    } else {
      EXPECT_EQ(FloatToHalf(wide), half) << bits;
    }
  }
}

TEST(HalfTest, RoundsToNearestEven) {
  EXPECT_EQ(FloatToHalf(1.0f), 0x3c00);
  EXPECT_EQ(FloatToHalf(1.0f + 0x1p-11f), 0x3c00);  // halfway: to even
  EXPECT_EQ(FloatToHalf(1.0f + 0x3p-11f), 0x3c02);
  EXPECT_EQ(FloatToHalf(65504.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7c00);  // infinity
  EXPECT_EQ(FloatToHalf(0x1p-25f), 0x0000);
  EXPECT_EQ(FloatToHalf(0x1.8p-25f), 0x0001);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
}

TEST(BfloatTest, RoundsToNearestEvenAndKeepsNan) {
  EXPECT_EQ(FloatToBfloat(1.0f), 0x3f80);
  EXPECT_EQ(FloatToBfloat(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(FloatToBfloat(1.0f + 0x3p-8f), 0x3f82);
  EXPECT_TRUE(std::isnan(BfloatToFloat(FloatToBfloat(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(BfloatToFloat(FloatToBfloat(std::numeric_limits<float>::infinity())),
            std::numeric_limits<float>::infinity());
}

TEST(FoldTest, SixteenBitFloatsGoThroughFloat32) {
  const std::vector<std::uint16_t> one{0x3c00}, two{0x4000};
  EXPECT_EQ(Folded(one, two, ncclFloat16, ncclSum), std::vector<std::uint16_t>{FloatToHalf(3.0f)});
  const std::vector<std::uint16_t> bone{0x3f80}, btwo{0x4000};
  EXPECT_EQ(Folded(bone, btwo, ncclBfloat16, ncclProd), std::vector<std::uint16_t>{FloatToBfloat(2.0f)});
}

}  // namespace
}  // namespace simgpu::nccl

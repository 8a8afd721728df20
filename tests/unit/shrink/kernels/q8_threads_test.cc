// Tests what the threads of a GPU do for the codec with 8 bits, on the host: it has to be the codec's own
// bits.
#include "shrink/kernels/q8_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "shrink/codec/exchange.h"
#include "shrink/codec/parts.h"
#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kSizes[] = {1, 31, 32, 33, 511, 512, 513, 1024, 4095, 4097, 70'001};

// Has zeros of both signs, subnormal numbers and a bucket that is constant, beside what is drawn.
Floats Mixed(std::size_t count, std::uint64_t seed) {
  Floats values = Gaussian(count, seed);
  for (std::size_t i = 0; i < count; ++i) {
    if (i / kQ8.bucket == 1) values[i] = i % 3 == 0 ? -0.0F : 0.0F;
    if (i / kQ8.bucket == 2) values[i] *= 0x1p-140F;
    if (i / kQ8.bucket == 3) values[i] = 7;
  }
  return values;
}

Bytes CodesOf(const Floats& values, const Draw& draw) {
  Bytes bytes(EncodedBytes(values.size(), kQ8.bits, kQ8.bucket));
  EXPECT_TRUE(Encode(values.data(), values.size(), kQ8, draw, bytes.data(), bytes.size()));
  return bytes;
}

Bytes CodesByThreads(const Floats& values, const Draw& draw) {
  Bytes bytes(EncodedBytes(values.size(), kQ8.bits, kQ8.bucket));
  const std::uint64_t chunk = BucketsOf(values.size()) * kQ8.bucket;
  RunOnHost(EncodeWork{values.data(), bytes.data(), draw.first, values.size(), chunk, 0, KeyOf(draw), 1});
  return bytes;
}

TEST(Q8ThreadsTest, TheCodesAreThoseOfTheCodec) {
  const Draw draw{3, 4, 1'024};
  for (const std::size_t count : kSizes) {
    const Floats values = Mixed(count, count);
    EXPECT_EQ(CodesByThreads(values, draw), CodesOf(values, draw)) << count;
  }
}

TEST(Q8ThreadsTest, OtherRandomNumbersAreSeen) {  // This is the control.
  const Floats values = Gaussian(4'097, 1);
  EXPECT_NE(CodesByThreads(values, {3, 4, 0}), CodesOf(values, {3, 5, 0}));
  EXPECT_NE(CodesByThreads(values, {3, 4, 0}), CodesOf(values, {3, 4, 1}));
}

TEST(Q8ThreadsTest, WhatIsNotFiniteGetsTheCodeOfNaN) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float odd : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    for (const std::size_t place : {0u, 511u, 512u, 1'030u}) {
      Floats values = Gaussian(1'031, 1);
      values[place] = odd;
      EXPECT_EQ(CodesByThreads(values, {}), CodesOf(values, {})) << place;
    }
  }
}

// The ranks of a flat exchange. Rank r is node r.
struct Ranks {
  Buffers values;
  Parts chunks;
  std::uint64_t room;
  std::vector<Bytes> codes, received;

  explicit Ranks(const Buffers& from)
      : values(from),
        chunks(PartsOf(from[0].size(), from.size(), kQ8.bucket)),
        room(EncodedBytes(chunks.length, kQ8.bits, kQ8.bucket) + 5),
        codes(from.size(), Bytes(from.size() * room, 0xee)),
        received(codes) {}
  std::uint64_t nodes() const { return values.size(); }
};

// Does an exchange by the threads' work alone, in place.
Buffers ExchangedByThreads(const Buffers& buffers, const Rounding& rounding, std::uint64_t divisor) {
  Ranks ranks(buffers);
  const std::uint64_t nodes = ranks.nodes(), count = buffers[0].size();
  const auto key = [&](std::uint64_t rank, unsigned step) {
    return KeyOf({rounding.seed, CallOf(rounding, nodes, rank, step), 0});
  };
  for (std::uint64_t r = 0; r < nodes; ++r) {
    RunOnHost(EncodeWork{ranks.values[r].data(), ranks.codes[r].data(), 0, count, ranks.chunks.length,
                         ranks.room, key(r, 0), r});
    for (std::uint64_t owner = 0; owner < nodes; ++owner)
      std::copy_n(ranks.codes[r].data() + owner * ranks.room, ranks.room,
                  ranks.received[owner].data() + r * ranks.room);
  }
  for (std::uint64_t r = 0; r < nodes; ++r) {
    float* own = ranks.values[r].data() + ranks.chunks.Begin(r);
    RunOnHost(SumWork{own, own, ranks.received[r].data(), ranks.codes[r].data() + r * ranks.room,
                      ranks.chunks.Begin(r), ranks.chunks.Size(r), ranks.room, key(r, 1), nodes, r});
  }
  for (std::uint64_t r = 0; r < nodes; ++r) {
    Bytes sums;
    for (std::uint64_t owner = 0; owner < nodes; ++owner)
      sums.insert(sums.end(), ranks.codes[owner].data() + owner * ranks.room,
                  ranks.codes[owner].data() + (owner + 1) * ranks.room);
    RunOnHost(
        DecodeWork{sums.data(), ranks.values[r].data(), count, ranks.chunks.length, ranks.room, divisor});
  }
  return ranks.values;
}

void ExpectTheOracle(const Buffers& buffers) {
  const Rounding rounding{5, 6};
  const auto expected = ExchangeFlat(buffers, {buffers.size(), 1}, kQ8, rounding);
  ASSERT_TRUE(expected);
  const Buffers got = ExchangedByThreads(buffers, rounding, 1);
  for (std::size_t rank = 0; rank < got.size(); ++rank)
    EXPECT_EQ(AllBits(got[rank]), AllBits(expected->values[rank])) << rank;
}

TEST(Q8ThreadsTest, AnExchangeHasTheBitsOfTheOracle) {
  for (const std::size_t nodes : {2u, 3u, 5u}) {
    for (const std::size_t count : kSizes) {
      SCOPED_TRACE(testing::Message() << nodes << " nodes, " << count << " elements");
      Buffers buffers;
      for (std::size_t rank = 0; rank < nodes; ++rank) buffers.push_back(Mixed(count, rank + 1));
      ExpectTheOracle(buffers);
      buffers[0][count / 2] = kNaN;
      buffers[1][count - 1] = std::numeric_limits<float>::infinity();
      ExpectTheOracle(buffers);
    }
  }
}

TEST(Q8ThreadsTest, AnAverageIsTheSumDividedOnce) {
  const Buffers buffers{Gaussian(5'000, 1), Gaussian(5'000, 2), Gaussian(5'000, 3)};
  const Buffers sums = ExchangedByThreads(buffers, {}, 1), averages = ExchangedByThreads(buffers, {}, 3);
  for (std::size_t i = 0; i < 5'000; ++i) EXPECT_EQ(BitsOf(averages[2][i]), BitsOf(sums[0][i] / 3));
}

}  // namespace
}  // namespace crossover::shrink

// Tests what the threads of a GPU do for the exchange with planned bits, on the host: it has to be the
// codec's own bits, and the errors that the oracle adds up.
#include "shrink/kernels/adaptive_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "shrink/codec/adaptive.h"
#include "shrink/codec/exchange.h"
#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kPlannedSizes[] = {1, 513, 8'192, 8'193, 30'000, 70'001};

Floats OfManySizes(std::size_t count, std::uint64_t seed) {
  Floats values = Gaussian(count, seed);
  for (std::size_t i = 0; i < count; ++i) values[i] *= std::ldexp(1.0F, static_cast<int>(i / 3'000 % 9));
  return values;
}

// The ranks of a flat exchange with planned bits. Rank r is node r.
class PlannedRanks {
 public:
  PlannedRanks(const Buffers& from, const BitsPlan& plan, const Rounding& rounding)
      : values_(from),
        plan_(plan),
        rounding_(rounding),
        chunks_(PartsOf(from[0].size(), from.size(), kQ8.bucket)),
        room_(EncodedBytes(chunks_.length, 8, kQ8.bucket) + 5),
        codes_(from.size(), Bytes(from.size() * room_, 0xee)),
        received_(codes_),
        table_(from.size() * plan.pieces.per_chunk) {
    for (std::size_t i = 0; i < table_.size(); ++i) table_[i].bits = plan.bits[0][i];
    for (std::size_t c = 0; c < from.size(); ++c)
      LayOut(plan.pieces, chunks_.Size(c), kQ8.bucket, table_.data() + c * plan.pieces.per_chunk);
  }

  // Does an exchange by the threads' work alone, in place.
  const Buffers& Exchange() {
    for (std::uint64_t r = 0; r < nodes(); ++r) EncodeAndSend(r);
    for (std::uint64_t r = 0; r < nodes(); ++r) Sum(r);
    for (std::uint64_t r = 0; r < nodes(); ++r) Decode(r);
    return values_;
  }

  // Adds the errors of the last exchange of one rank's chunk. They go to `said` as well, unless it is null.
  void AddErrors(std::uint64_t r, double* errors, double* said) const {
    RunOnHost(StatisticsWork{received_[r].data(), codes_[r].data() + r * room_, errors, said, chunks_.Size(r),
                             room_, nodes(), r, Layout()});
  }

  // Returns whether no code lies behind the bytes that are sent.
  bool IsWithinItsBytes(std::uint64_t r) const {
    const std::uint64_t bytes = BytesOf(r);
    return std::ranges::all_of(codes_[r].begin() + static_cast<std::ptrdiff_t>(r * room_ + bytes),
                               codes_[r].begin() + static_cast<std::ptrdiff_t>((r + 1) * room_),
                               [](std::uint8_t byte) { return byte == 0xee; });
  }
  std::uint64_t BytesOf(std::uint64_t chunk) const {
    return CodesOf(plan_.pieces, chunks_.Size(chunk), kQ8.bucket,
                   table_.data() + chunk * plan_.pieces.per_chunk);
  }
  std::uint64_t nodes() const { return values_.size(); }

 private:
  PlannedBits Layout() const { return {table_.data(), plan_.pieces.per_chunk, plan_.pieces.length}; }
  std::uint64_t Key(std::uint64_t rank, unsigned step) const {
    return KeyOf({rounding_.seed, CallOf(rounding_, nodes(), rank, step), 0});
  }
  void EncodeAndSend(std::uint64_t r) {
    RunOnHost(EncodeWorkOf<PlannedBits>{values_[r].data(), codes_[r].data(), 0, values_[r].size(),
                                        chunks_.length, room_, Key(r, 0), r, Layout()});
    for (std::uint64_t owner = 0; owner < nodes(); ++owner)
      std::copy_n(codes_[r].data() + owner * room_, BytesOf(owner), received_[owner].data() + r * room_);
  }
  void Sum(std::uint64_t r) {
    float* own = values_[r].data() + chunks_.Begin(r);
    RunOnHost(SumWorkOf<PlannedBits>{own, own, received_[r].data(), codes_[r].data() + r * room_,
                                     chunks_.Begin(r), chunks_.Size(r), room_, Key(r, 1), nodes(), r,
                                     Layout()});
  }
  void Decode(std::uint64_t r) {
    Bytes sums(nodes() * room_);
    for (std::uint64_t owner = 0; owner < nodes(); ++owner)
      std::copy_n(codes_[owner].data() + owner * room_, BytesOf(owner), sums.data() + owner * room_);
    RunOnHost(DecodeWorkOf<PlannedBits>{sums.data(), values_[r].data(), values_[r].size(), chunks_.length,
                                        room_, 1, Layout()});
  }

  Buffers values_;
  const BitsPlan& plan_;
  const Rounding rounding_;
  const Parts chunks_;
  const std::uint64_t room_;
  std::vector<Bytes> codes_, received_;
  std::vector<Piece> table_;
};

BitsPlan DrawnPlan(std::size_t count, std::size_t nodes) {
  BitsPlan plan = UniformPlan(count, {nodes, 1}, kQ8.bucket, 8);
  for (std::size_t i = 0; i < plan.bits[0].size(); ++i)
    plan.bits[0][i] = static_cast<std::uint8_t>(1 + (i * 5 + nodes) % 8);
  return plan;
}

PieceErrors NoErrors(const BitsPlan& plan) { return {std::vector<double>(plan.bits[0].size(), 0)}; }

void ExpectThePlannedOracle(const Buffers& buffers, const BitsPlan& plan) {
  const Rounding rounding{5, 6};
  PieceErrors errors = NoErrors(plan);
  const auto expected = ExchangePlanned(buffers, {buffers.size(), 1}, plan, kQ8.bucket, rounding, &errors);
  ASSERT_TRUE(expected);
  PlannedRanks ranks(buffers, plan, rounding);
  const Buffers& got = ranks.Exchange();
  for (std::size_t rank = 0; rank < got.size(); ++rank)
    EXPECT_EQ(AllBits(got[rank]), AllBits(expected->values[rank])) << rank;
  std::vector<double> found(errors[0].size(), 0);
  for (std::size_t r = 0; r < buffers.size(); ++r) {
    ranks.AddErrors(r, found.data() + r * plan.pieces.per_chunk, nullptr);
    EXPECT_TRUE(ranks.IsWithinItsBytes(r));
  }
  EXPECT_EQ(found, errors[0]);  // bit for bit: the order is part of the layout
}

TEST(AdaptiveThreadsTest, AnExchangeHasTheBitsAndTheErrorsOfTheOracle) {
  for (const std::size_t nodes : {2u, 3u, 5u}) {
    for (const std::size_t count : kPlannedSizes) {
      SCOPED_TRACE(testing::Message() << nodes << " nodes, " << count << " elements");
      Buffers buffers;
      for (std::size_t rank = 0; rank < nodes; ++rank) buffers.push_back(OfManySizes(count, rank + 1));
      const BitsPlan plan = DrawnPlan(count, nodes);
      ExpectThePlannedOracle(buffers, plan);
      buffers[0][count / 2] = kNaN;
      buffers[1][count - 1] = std::numeric_limits<float>::infinity();
      ExpectThePlannedOracle(buffers, plan);
    }
  }
}

TEST(AdaptiveThreadsTest, With8BitsItIsTheExchangeWith8Bits) {
  const Buffers buffers{OfManySizes(70'001, 1), OfManySizes(70'001, 2)};
  const BitsPlan plan = UniformPlan(70'001, {2, 1}, kQ8.bucket, 8);
  PlannedRanks ranks(buffers, plan, {5, 6});
  const auto expected = ExchangeFlat(buffers, {2, 1}, kQ8, {5, 6});
  EXPECT_EQ(AllBits(ranks.Exchange()[1]), AllBits(expected->values[1]));
}

TEST(AdaptiveThreadsTest, OtherBitsAreSeen) {  // This is the control.
  const Buffers buffers{OfManySizes(70'001, 1), OfManySizes(70'001, 2)};
  BitsPlan plan = DrawnPlan(70'001, 2);
  PlannedRanks ranks(buffers, plan, {5, 6});
  const Buffers some = ranks.Exchange();
  BitsPlan other = plan;
  other.bits[0][3] = static_cast<std::uint8_t>(other.bits[0][3] % 8 + 1);
  const auto result = ExchangePlanned(buffers, {2, 1}, other, kQ8.bucket, {5, 6}, nullptr);
  EXPECT_NE(AllBits(some[0]), AllBits(result->values[0]));
}

TEST(AdaptiveThreadsTest, TheErrorsAreThoseOfTheValues) {
  // With 8 bits the ranges in the codes are those of the values, up to the rounding of the step.
  const Buffers buffers{OfManySizes(40'000, 1), OfManySizes(40'000, 2)};
  const BitsPlan plan = UniformPlan(40'000, {2, 1}, kQ8.bucket, 8);
  PlannedRanks ranks(buffers, plan, {5, 6});
  const Floats sum = ranks.Exchange()[0];
  std::vector<double> found(plan.pieces.per_chunk, 0);
  ranks.AddErrors(0, found.data(), nullptr);
  const std::size_t piece = plan.pieces.length * kQ8.bucket;
  // Rank 0 owns the first chunk, of which rank 1 sends its own values.
  const double expected = StatisticsOf(buffers[1].data(), piece, kQ8.bucket).one_bit_error +
                          StatisticsOf(sum.data(), piece, kQ8.bucket).one_bit_error;
  EXPECT_NEAR(found[0] / expected, 1, 0.02);
}

TEST(AdaptiveThreadsTest, ErrorsAddUpUntilTheyAreSaid) {
  const Buffers buffers{OfManySizes(40'000, 1), OfManySizes(40'000, 2)};
  const BitsPlan plan = DrawnPlan(40'000, 2);
  PlannedRanks ranks(buffers, plan, {5, 6});
  ranks.Exchange();
  std::vector<double> once(plan.pieces.per_chunk, 0), errors = once, said = once;
  ranks.AddErrors(0, once.data(), nullptr);
  ranks.AddErrors(0, errors.data(), nullptr);
  ranks.AddErrors(0, errors.data(), said.data());
  for (std::size_t i = 0; i < said.size(); ++i) EXPECT_EQ(said[i], once[i] + once[i]);
  EXPECT_EQ(errors, std::vector<double>(errors.size(), 0));
}

TEST(AdaptiveThreadsTest, PlannedBitsHaveNoBias) {
  // The mean over many calls is the sum, within 4 sigma of u / 2 for each of the encodings. Rounding that is
  // the same in each call is the control: its error stays.
  constexpr std::size_t kCalls = 2'000, kElements = 512;
  const Buffers buffers{Gaussian(kElements, 1), Gaussian(kElements, 2)};
  BitsPlan plan = UniformPlan(kElements, {2, 1}, kQ8.bucket, 3);
  std::vector<double> mean(kElements, 0);
  for (std::size_t call = 0; call < kCalls; ++call) {
    PlannedRanks ranks(buffers, plan, {1, call});
    const Floats sum = ranks.Exchange()[0];
    for (std::size_t i = 0; i < kElements; ++i) mean[i] += sum[i] / static_cast<double>(kCalls);
  }
  const Floats same = PlannedRanks(buffers, plan, {1, 0}).Exchange()[0];
  const double step = 2 * 6.5 / 7;  // of the sum, at most, in units of sigma: its range is below 13
  double worst = 0, worst_of_same = 0;
  for (std::size_t i = 0; i < kElements; ++i) {
    const double exact = static_cast<double>(buffers[0][i]) + buffers[1][i];
    worst = std::max(worst, std::abs(mean[i] - exact));
    worst_of_same = std::max(worst_of_same, std::abs(same[i] - exact));
  }
  const double limit = 4 * step / std::sqrt(2.0 * kCalls);
  EXPECT_LT(worst, limit);
  EXPECT_GT(worst_of_same, 3 * limit);
}

}  // namespace
}  // namespace crossover::shrink

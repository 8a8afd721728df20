#include "shrink/codec/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink {
namespace {

constexpr Rounding kRounding{3, 4};

bool AreEqual(const Buffers& values) {
  return std::ranges::all_of(values, [&](const Floats& each) { return AllBits(each) == AllBits(values[0]); });
}

// Does the exchange in a second way, chunk by chunk with copies. `owner_keeps` is the control: the owner
// keeps the sum that it has encoded for the others.
Buffers TwoStepsByHand(const Buffers& buffers, const Format& format, bool owner_keeps) {
  const std::size_t ranks = buffers.size(), count = buffers[0].size();
  const auto borders = Borders(count, ranks, format.bucket);
  Buffers result(ranks, Floats(count));
  for (std::size_t owner = 0; owner < ranks; ++owner) {
    const auto first = static_cast<std::ptrdiff_t>(borders[owner]),
               last = static_cast<std::ptrdiff_t>(borders[owner + 1]);
    const auto draw = [&](std::size_t rank, unsigned step) {
      return DrawOf(kRounding, {1, ranks}, rank, step, borders[owner]);
    };
    Floats sum(buffers[owner].begin() + first, buffers[owner].begin() + last);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      if (rank == owner) continue;
      const Floats chunk(buffers[rank].begin() + first, buffers[rank].begin() + last);
      const Floats arrived = RoundTrip(chunk, format, draw(rank, 0)).value();
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += arrived[i];
    }
    const Floats sent = RoundTrip(sum, format, draw(owner, 1)).value();
    for (std::size_t rank = 0; rank < ranks; ++rank)
      std::ranges::copy(rank == owner && owner_keeps ? sum : sent, result[rank].begin() + first);
  }
  return result;
}

// Sums by a ring whose ranks decode, add and encode again at each hop. This is the control: each hop adds an
// error.
Floats RingThatEncodesAtEachHop(const Buffers& buffers, const Format& format) {
  Floats sum = buffers[0];
  for (std::size_t hop = 1; hop < buffers.size(); ++hop) {
    sum = RoundTrip(sum, format, {9, hop, 0}).value();
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += buffers[hop][i];
  }
  return RoundTrip(sum, format, {9, 0, 0}).value();
}

TEST(ExchangeTest, AllRanksEndWithTheSameBitsWhateverTheShapeIs) {
  for (const Topology topology : {Topology{1, 1}, {2, 1}, {1, 3}, {3, 2}, {2, 4}}) {
    for (const std::size_t count : {0u, 1u, 9u, 99u, 100u, 101u, 599u, 601u, 4001u}) {
      const Buffers buffers = GaussianOfRanks(topology.ranks(), count);
      for (const auto exchange : {ExchangeFlat, ExchangeHierarchical}) {
        const auto result = exchange(buffers, topology, {8, 100}, kRounding);
        ASSERT_TRUE(result);
        EXPECT_TRUE(AreEqual(result->values));
        // Each element is compared: one that is left out would be seen.
        const Floats exact = ExactSum(buffers);
        for (std::size_t i = 0; i < count; ++i)
          EXPECT_NEAR(result->values[0][i], exact[i], 0.5) << count << " " << i;
      }
    }
  }
}

TEST(ExchangeTest, TheFlatExchangeIsTheOneDoneByHand) {
  for (const std::size_t ranks : {2u, 3u, 7u}) {
    const Buffers buffers = GaussianOfRanks(ranks, 2345);
    const auto result = ExchangeFlat(buffers, {1, ranks}, {5, 64}, kRounding);
    const Buffers by_hand = TwoStepsByHand(buffers, {5, 64}, false);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(AllBits(result.value().values[rank]), AllBits(by_hand[rank]));
  }
}

TEST(ExchangeTest, AnOwnerThatKeepsItsSumDiffersFromTheOthers) {
  EXPECT_TRUE(AreEqual(TwoStepsByHand(GaussianOfRanks(4, 1000), {8, 100}, false)));
  EXPECT_FALSE(AreEqual(TwoStepsByHand(GaussianOfRanks(4, 1000), {8, 100}, true)));
}

TEST(ExchangeTest, ValuesAreEncodedTwiceWhateverTheNumberOfRanks) {
  const Format format{4, 128};
  for (const std::size_t ranks : {2u, 8u, 32u}) {
    const Buffers buffers = GaussianOfRanks(ranks, 16'384);
    const Floats exact = ExactSum(buffers);
    const double two_steps =
        RelativeError(ExchangeFlat(buffers, {1, ranks}, format, kRounding)->values[0], exact);
    const double ring = RelativeError(RingThatEncodesAtEachHop(buffers, format), exact);
    RecordProperty("two_steps_" + std::to_string(ranks), std::to_string(two_steps));
    RecordProperty("ring_" + std::to_string(ranks), std::to_string(ring));
    EXPECT_NEAR(two_steps, 0.019 * (2 - 1 / static_cast<double>(ranks)), 0.004);
    // The ring encodes a sum of k ranks at hop k.
    EXPECT_GT(ring, (ranks == 2 ? 0.8 : ranks == 8 ? 2 : 7) * two_steps);
  }
}

TEST(ExchangeTest, TheErrorsOfEqualRanksAreIndependent) {
  // All ranks have the same values. If they took the same random numbers, the error of the sum would be N
  // times as large.
  const Buffers buffers(16, Gaussian(16'384, 1));
  const double error =
      RelativeError(ExchangeFlat(buffers, {1, 16}, {4, 128}, kRounding)->values[0], ExactSum(buffers));
  RecordProperty("equal_ranks", std::to_string(error));
  EXPECT_NEAR(error, 0.019 * (1 + 1.0 / 16), 0.003);
}

TEST(ExchangeTest, SomethingNotFiniteOnOneRankIsNotFiniteOnAll) {
  for (const float bad : {kNaN, FloatOf(kInfinityBits), -FloatOf(kInfinityBits)}) {
    for (std::size_t rank = 0; rank < 6; ++rank) {
      Buffers buffers = GaussianOfRanks(6, 1000);
      buffers[rank][567] = bad;
      for (const auto exchange : {ExchangeFlat, ExchangeHierarchical}) {
        const auto result = exchange(buffers, {3, 2}, {8, 100}, kRounding);
        ASSERT_TRUE(AreEqual(result.value().values));
        EXPECT_FALSE(IsFinite(result->values[0][567]));
        EXPECT_TRUE(IsFinite(result->values[0][700]));
      }
    }
  }
  // A sum may overflow though no rank has anything that is not finite.
  const Buffers large(4, Floats(10, 3e38f));
  EXPECT_TRUE(IsNaN(ExchangeFlat(large, {1, 4}, {}, kRounding)->values[3][0]));
}

std::vector<Sent> SentIn(decltype(ExchangeFlat) exchange, const Buffers& buffers, const Topology& topology,
                         const Format& format) {
  return exchange(buffers, topology, format, kRounding).value().sent;
}

TEST(ExchangeTest, EachRankSendsTheBytesOfTheFormula) {
  const Topology topology{4, 2};
  const Format format{8, 128};
  const std::size_t count = 8 * 128 * 5, ranks = 8;
  const std::uint64_t chunk = EncodedBytes(count / ranks, 8, 128);
  for (const Sent& sent : SentIn(ExchangeFlat, GaussianOfRanks(ranks, count), topology, format)) {
    EXPECT_EQ(sent.between_nodes, 2 * 6 * chunk);
    EXPECT_EQ(sent.within_node, 2 * 1 * chunk);
  }
  // Half of the buffer is a shard, which four ranks exchange in quarters. Its quarter is a chunk, too.
  for (const Sent& sent : SentIn(ExchangeHierarchical, GaussianOfRanks(ranks, count), topology, format)) {
    EXPECT_EQ(sent.between_nodes, 2 * 3 * chunk);
    EXPECT_EQ(sent.within_node, 2 * count / 2 * sizeof(float));
  }
  // Lengths that cannot be divided: what all ranks send is what the chunks have.
  const std::size_t odd = 1777;
  const auto borders = Borders(odd, ranks, 128);
  std::uint64_t expected = 0, sum = 0;
  for (std::size_t c = 0; c < ranks; ++c)
    expected += 2 * 7 * EncodedBytes(borders[c + 1] - borders[c], 8, 128);
  for (const Sent& sent : SentIn(ExchangeFlat, GaussianOfRanks(ranks, odd), topology, format))
    sum += sent.between_nodes + sent.within_node;
  EXPECT_EQ(sum, expected);
}

// On nodes with many GPUs the flat exchange sends more through each network card than NCCL's ring does
// without a codec.
TEST(ExchangeTest, OnlyTheHierarchicalExchangeSendsLessThanARingOnLargeNodes) {
  const Topology topology{16, 8};
  const std::size_t count = topology.ranks() * 512;
  const Buffers buffers(topology.ranks(), Floats(count, 1));
  const auto copies = [&](const std::optional<Exchanged>& result) {
    std::uint64_t bytes = 0;
    for (std::size_t rank = 0; rank < topology.per_node; ++rank)
      bytes += result.value().sent[rank].between_nodes;
    return static_cast<double>(bytes) / static_cast<double>(count * sizeof(float));
  };
  const double ring = 2 * 127.0 / 128;
  const double flat = copies(ExchangeFlat(buffers, topology, {8, 512}, kRounding));
  const double flat4 = copies(ExchangeFlat(buffers, topology, {4, 512}, kRounding));
  const double hierarchical = copies(ExchangeHierarchical(buffers, topology, {8, 512}, kRounding));
  RecordProperty("flat8", std::to_string(flat));
  RecordProperty("flat4", std::to_string(flat4));
  RecordProperty("hierarchical8", std::to_string(hierarchical));
  EXPECT_NEAR(flat, 8 * 2 * 15.0 / 16 * (8 + 64.0 / 512) / 32, 1e-9);
  EXPECT_GT(flat, 1.9 * ring);
  EXPECT_GT(flat4, 0.95 * ring);
  EXPECT_NEAR(hierarchical, flat / 8, 1e-9);
  EXPECT_LT(hierarchical, ring / 4);
}

TEST(ExchangeTest, BordersAreWholeBucketsAndCoverAll) {
  EXPECT_EQ(Borders(0, 3, 8), (std::vector<std::size_t>{0, 0, 0, 0}));
  EXPECT_EQ(Borders(9, 3, 8), (std::vector<std::size_t>{0, 8, 9, 9}));
  EXPECT_EQ(Borders(48, 3, 8), (std::vector<std::size_t>{0, 16, 32, 48}));
  EXPECT_EQ(Borders(49, 3, 8), (std::vector<std::size_t>{0, 24, 48, 49}));
}

TEST(ExchangeTest, ARankAloneKeepsItsValues) {
  const Buffers buffers = GaussianOfRanks(1, 1000);
  for (const auto exchange : {ExchangeFlat, ExchangeHierarchical}) {
    const auto result = exchange(buffers, {1, 1}, {}, kRounding);
    EXPECT_EQ(result.value().values, buffers);
    EXPECT_EQ(result->sent[0].within_node + result->sent[0].between_nodes, 0u);
  }
}

TEST(ExchangeTest, BuffersThatDoNotFitAreRefused) {
  for (const auto exchange : {ExchangeFlat, ExchangeHierarchical}) {
    EXPECT_FALSE(exchange({}, {1, 0}, {}, kRounding));
    EXPECT_FALSE(exchange(GaussianOfRanks(3, 10), {2, 2}, {}, kRounding));
    EXPECT_FALSE(exchange({Floats(10), Floats(11)}, {2, 1}, {}, kRounding));
    EXPECT_FALSE(exchange(GaussianOfRanks(2, 10), {2, 1}, {9, 512}, kRounding));
  }
}

}  // namespace
}  // namespace crossover::shrink

// Tests when the bits of a kind change, and to what.
#include "shrink/library/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "shrink/kernels/q8_threads.h"

namespace crossover::shrink::library {
namespace {

constexpr Position kPlanPosition{3, 2, 1, 1};
constexpr std::uint64_t kPlanCount = 300'001;

// A PlannedKind has what one rank knows of a kind.
struct PlannedKind {
  Pieces pieces = PiecesOfCall(kPlanCount, kPlanPosition);
  Share share = ShareOf(kPlanCount, kPlanPosition);
  std::unique_ptr<KindMemory> memory = std::make_unique<KindMemory>();
  std::unique_ptr<ChoiceMemory> choice = std::make_unique<ChoiceMemory>();

  PlannedKind() { BeginPlan(pieces, share, kPlanPosition, memory.get()); }
  std::size_t size() const { return kPlanPosition.nodes * pieces.per_chunk; }
  std::size_t Elements(std::size_t i) const {
    return pieces.SizeOf(i % pieces.per_chunk, share.chunks.Size(i / pieces.per_chunk), kQ8.bucket);
  }
  void SayErrors(double base) {
    for (std::size_t i = 0; i < size(); ++i)
      memory->said[i] = Elements(i) > 0 ? std::pow(base, static_cast<double>(i % 9)) : -7;
  }
  bool Change(std::uint32_t percent) {
    return ChangePlan(pieces, share, kPlanPosition, percent, choice.get(), memory.get());
  }
  double ErrorWith(std::uint64_t (*bits)(const Piece&)) const {
    double error = 0;
    for (std::size_t i = 0; i < size(); ++i) {
      const double top = static_cast<double>((1u << bits(memory->pieces[i])) - 1);
      if (Elements(i) > 0) error += memory->said[i] / (top * top);
    }
    return error;
  }
  std::uint64_t Bytes() const {
    std::uint64_t bytes = 0;
    for (std::uint32_t chunk = 0; chunk < kPlanPosition.nodes; ++chunk)
      bytes += CodesOfChunk(pieces, share, chunk, *memory);
    return bytes;
  }
};

std::uint64_t Own(const Piece& piece) { return piece.bits; }
std::uint64_t Four(const Piece&) { return 4; }

TEST(PlanTest, ErrorsAreSaidAtEach100thCallAndBitsFollow32CallsLater) {
  for (std::uint64_t call = 0; call < 1'000; ++call) {
    EXPECT_EQ(SaysErrors(call), call == 99 || (call > 99 && (call - 99) % 100 == 0)) << call;
    EXPECT_EQ(TakesBits(call), call >= 131 && (call - 131) % 100 == 0) << call;
  }
}

TEST(PlanTest, AKindBeginsWith8Bits) {
  const PlannedKind kind;
  ASSERT_GT(kind.pieces.per_chunk, 1u);
  for (std::uint32_t chunk = 0; chunk < kPlanPosition.nodes; ++chunk)
    EXPECT_EQ(CodesOfChunk(kind.pieces, kind.share, chunk, *kind.memory),
              EncodedBytes(kind.share.chunks.Size(chunk), 8, kQ8.bucket));
}

TEST(PlanTest, TheExpectedErrorIsWithinTheBudgetAndNearIt) {
  for (const std::uint32_t percent : {1u, 30u, 100u, 400u, kMostError}) {
    PlannedKind kind;
    kind.SayErrors(10);
    ASSERT_TRUE(kind.Change(percent));
    const double budget = kind.ErrorWith(Four) * percent / 100;
    EXPECT_LE(kind.ErrorWith(Own), budget * (1 + 1e-9)) << percent;
    EXPECT_GT(kind.ErrorWith(Own), percent == 1 ? 0.3 * budget : 0.0) << percent;
  }
}

TEST(PlanTest, OneBitLessInALargePieceBreaksTheBudget) {  // This is the control.
  PlannedKind kind;
  kind.SayErrors(10);
  ASSERT_TRUE(kind.Change(100));
  const auto largest = std::ranges::max_element(kind.memory->said, {}, [](double v) { return v; });
  --kind.memory->pieces[largest - kind.memory->said].bits;
  EXPECT_GT(kind.ErrorWith(Own), kind.ErrorWith(Four));
}

TEST(PlanTest, ALargerErrorTakesFewerBytes) {
  std::uint64_t before = UINT64_MAX;
  for (const std::uint32_t percent : {1u, 10u, 100u, 1'000u, kMostError}) {
    PlannedKind kind;
    kind.SayErrors(4);
    ASSERT_TRUE(kind.Change(percent));
    EXPECT_LT(kind.Bytes(), before) << percent;
    before = kind.Bytes();
  }
}

TEST(PlanTest, WithoutErrorsThePlanStays) {
  PlannedKind kind;
  for (std::size_t i = 0; i < kind.size(); ++i) kind.memory->said[i] = 0;
  EXPECT_FALSE(kind.Change(100));
  kind.memory->said[0] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(kind.Change(100));
  EXPECT_TRUE(std::ranges::all_of(kind.memory->pieces, [](const Piece& piece) { return piece.bits == 8; }));
}

TEST(PlanTest, EachNumberOfNodesHasRoom) {
  for (const std::uint32_t nodes : {2u, 3u, 16u, 255u, 256u}) {
    for (const std::uint64_t count : {65'536u, 1u << 20, 1u << 30}) {
      const Pieces pieces = PiecesOfCall(count, {nodes, 1, 0, 0});
      EXPECT_GE(pieces.per_chunk, 1u);
      EXPECT_LE(pieces.per_chunk * nodes, kMostPieces);
      EXPECT_GE(pieces.per_chunk * pieces.length * nodes * kQ8.bucket, count);
      EXPECT_EQ(pieces.length % kLeastPiece, 0u);
    }
  }
  EXPECT_EQ(PiecesOfCall(1u << 20, {257, 1, 0, 0}).per_chunk, 0u);
}

TEST(PlanTest, TheLargestPlanFitsIntoTheMemory) {
  constexpr Position kTwo{2, 1, 0, 0};
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 30;
  const Pieces pieces = PiecesOfCall(kLarge, kTwo);
  const Share share = ShareOf(kLarge, kTwo);
  ASSERT_EQ(2 * pieces.per_chunk, kMostPieces);
  const auto memory = std::make_unique<KindMemory>();
  const auto choice = std::make_unique<ChoiceMemory>();
  BeginPlan(pieces, share, kTwo, memory.get());
  for (std::size_t i = 0; i < kMostPieces; ++i)
    memory->said[i] = std::pow(1.1, static_cast<double>(i * 7 % 61));
  ASSERT_TRUE(ChangePlan(pieces, share, kTwo, 100, choice.get(), memory.get()));
  EXPECT_LT(CodesOfChunk(pieces, share, 0, *memory), EncodedBytes(kLarge / 2, 4, kQ8.bucket));
}

TEST(PlanTest, AllPlacesDivideAlike) {
  for (std::uint32_t place = 0; place < 2; ++place) {
    const Pieces pieces = PiecesOfCall(kPlanCount, {3, 2, 0, place});
    EXPECT_EQ(pieces.per_chunk, PiecesOfCall(kPlanCount, kPlanPosition).per_chunk);
    EXPECT_EQ(pieces.length, PiecesOfCall(kPlanCount, kPlanPosition).length);
  }
}

}  // namespace
}  // namespace crossover::shrink::library

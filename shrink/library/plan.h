// Decides how many bits each piece of a call has, and when that changes. Pure values: each rank has the same
// calls and the same bytes, so each comes to the same answer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shrink/codec/choice.h"
#include "shrink/codec/pieces.h"
#include "shrink/library/share.h"

namespace crossover::shrink::library {

// At each kPeriod-th call of a kind the owners of chunks say the errors of the calls since. Before the
// kDelay-th call behind that all ranks take the bits that follow from them.
inline constexpr std::uint64_t kPeriod = 100;
inline constexpr std::uint64_t kDelay = 32;
constexpr bool SaysErrors(std::uint64_t call) { return call % kPeriod == kPeriod - 1; }
constexpr bool TakesBits(std::uint64_t call) { return call >= kPeriod && call % kPeriod == kDelay - 1; }

inline constexpr std::uint32_t kWholeError = 100;   // percent of the error of 4 bits everywhere
inline constexpr std::uint32_t kMostError = 2'500;  // that of 2 bits everywhere
inline constexpr unsigned kLeastBits = 2;
inline constexpr std::size_t kParts = 4'096;  // of the budget, for the knapsack

// A KindMemory is what one kind of calls has on the GPU and, in the same form, in pinned memory of the host.
// Both begin with zeros in `errors`.
struct KindMemory {
  Piece pieces[kMostPieces];   // of all chunks of the shard
  double errors[kMostPieces];  // V of the own chunk's pieces, so far; only on the GPU
  double said[kMostPieces];    // V of all pieces, as their owners have said it
};
inline constexpr std::size_t kMostKinds = 64;
inline constexpr std::uint64_t kPlansBytes = kMostKinds * sizeof(KindMemory);  // of the buffer

// A ChoiceMemory has what one choice needs.
struct ChoiceMemory {
  std::array<std::uint64_t, kParts + 1> best, next;
  std::array<std::uint8_t, kMostPieces*(kParts + 1)> chosen;
  std::array<Raise, kMostPieces> raises;
  std::array<std::size_t, kMostPieces> order;
  std::array<std::uint8_t, kMostPieces> before, bits, other;
  std::array<ChunkStatistics, kMostPieces> statistics;
};

// Returns the pieces of a call's shards, the same on all ranks. They have no chunk if there are too many
// nodes.
Pieces PiecesOfCall(std::uint64_t count, const Position& position);

// Returns the bytes of the codes of a chunk of the share.
std::uint64_t CodesOfChunk(const Pieces& pieces, const Share& share, std::uint32_t chunk,
                           const KindMemory& kind);

// Sets 8 bits for all pieces.
void BeginPlan(const Pieces& pieces, const Share& share, const Position& position, KindMemory* kind);

// Sets the bits for which the errors that were said allow the fewest bytes, if their expected error is at
// most `percent` of that of 4 bits everywhere. Returns false, and changes nothing, if there were no errors or
// there is no choice.
bool ChangePlan(const Pieces& pieces, const Share& share, const Position& position, std::uint32_t percent,
                ChoiceMemory* memory, KindMemory* kind);

}  // namespace crossover::shrink::library

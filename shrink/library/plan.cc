#include "shrink/library/plan.h"

#include <algorithm>

#include "shrink/kernels/q8_threads.h"

namespace crossover::shrink::library {
namespace {

// Sets where the codes of all pieces begin.
void LayOutAll(const Pieces& pieces, const Share& share, const Position& position, KindMemory* kind) {
  for (std::uint32_t chunk = 0; chunk < position.nodes; ++chunk)
    LayOut(pieces, share.chunks.Size(chunk), kQ8.bucket, kind->pieces + chunk * pieces.per_chunk);
}

}  // namespace

Pieces PiecesOfCall(std::uint64_t count, const Position& position) {
  const std::uint64_t longest = PartsOf(count, position.per_node, kQ8.bucket).Size(0);
  return PiecesOf(PartsOf(longest, position.nodes, kQ8.bucket), position.nodes, kQ8.bucket);
}

std::uint64_t CodesOfChunk(const Pieces& pieces, const Share& share, std::uint32_t chunk,
                           const KindMemory& kind) {
  return CodesOf(pieces, share.chunks.Size(chunk), kQ8.bucket, kind.pieces + chunk * pieces.per_chunk);
}

void BeginPlan(const Pieces& pieces, const Share& share, const Position& position, KindMemory* kind) {
  for (Piece& piece : kind->pieces) piece.bits = kQ8.bits;
  LayOutAll(pieces, share, position, kind);
}

bool ChangePlan(const Pieces& pieces, const Share& share, const Position& position, std::uint32_t percent,
                ChoiceMemory* memory, KindMemory* kind) {
  const std::size_t all = position.nodes * pieces.per_chunk;
  const auto statistics = std::span(memory->statistics).first(all);
  double sum = 0;
  for (std::size_t i = 0; i < all; ++i) {
    const std::size_t chunk = i / pieces.per_chunk, piece = i % pieces.per_chunk;
    const std::size_t size = pieces.SizeOf(piece, share.chunks.Size(chunk), kQ8.bucket);
    statistics[i] = {size, size > 0 ? kind->said[i] : 0};
    sum += statistics[i].one_bit_error;
  }
  AdaptiveRule rule;
  rule.bucket = kQ8.bucket;
  rule.least_bits = kLeastBits;
  rule.alpha = static_cast<double>(percent) / kWholeError;
  rule.parts = kParts;
  const ChoiceRoom room{memory->best,   memory->next,  memory->chosen,
                        memory->raises, memory->order, memory->before};
  const auto bits = std::span(memory->bits).first(all), other = std::span(memory->other).first(all);
  if (!(sum > 0) || !ChooseBits(Chunks(statistics), rule, room, other, bits)) return false;
  for (std::size_t i = 0; i < all; ++i) kind->pieces[i].bits = bits[i];
  LayOutAll(pieces, share, position, kind);
  return true;
}

}  // namespace crossover::shrink::library

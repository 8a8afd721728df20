// Divides the chunks of a shard into pieces, each of which has bits of its own. Freestanding (float_bits.h).
//
// A piece is `length` buckets of a chunk, the last one of a chunk fewer. Chunk c has the pieces from c *
// per_chunk on; the last chunks may have fewer buckets, or none, and then pieces of no elements.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shrink/codec/parts.h"
#include "shrink/codec/q8.h"

namespace crossover::shrink {

inline constexpr size_t kLeastPiece = 16;   // buckets
inline constexpr size_t kMostPieces = 256;  // of a shard

// A Piece says how the codes of a piece lie in those of its chunk, which are those of a bucket after another.
struct Piece {
  uint64_t begin = 0;  // in bytes
  uint64_t bits = 8;
};

struct Pieces {
  uint64_t per_chunk = 0;  // 0: the shard cannot be divided
  uint64_t length = 0;     // in buckets

  // Returns how many elements a piece has, by its number in its chunk of `size` elements.
  constexpr size_t SizeOf(size_t piece, size_t size, size_t bucket) const {
    const size_t begin = piece * length * bucket;
    if (begin >= size) return 0;
    return size - begin < length * bucket ? size - begin : length * bucket;
  }
};

// Returns the pieces of a shard, the same for all shards whose longest one has `longest` as its chunks. They
// are as short as they may be.
constexpr Pieces PiecesOf(const Parts& longest, size_t chunks, size_t bucket) {
  const size_t most = chunks > 0 ? kMostPieces / chunks : 0;  // of a chunk
  const size_t buckets = longest.length / bucket;
  if (most == 0 || buckets == 0) return {};
  const size_t least = buckets / most + (buckets % most > 0 ? 1 : 0);
  const size_t length = (least + kLeastPiece - 1) / kLeastPiece * kLeastPiece;
  return {buckets / length + (buckets % length > 0 ? 1 : 0), length};
}

// Sets where the codes of the pieces of a chunk of `size` elements begin, from their bits. Returns the bytes
// of the whole chunk.
constexpr uint64_t LayOut(const Pieces& pieces, size_t size, size_t bucket, Piece* of_chunk) {
  uint64_t bytes = 0;
  for (size_t p = 0; p < pieces.per_chunk; ++p) {
    of_chunk[p].begin = bytes;
    bytes += EncodedBytes(pieces.SizeOf(p, size, bucket), static_cast<unsigned>(of_chunk[p].bits),
                          static_cast<unsigned>(bucket));
  }
  return bytes;
}

// Returns the bytes of the codes of a chunk that LayOut() has seen.
constexpr uint64_t CodesOf(const Pieces& pieces, size_t size, size_t bucket, const Piece* of_chunk) {
  const Piece& last = of_chunk[pieces.per_chunk - 1];
  return last.begin + EncodedBytes(pieces.SizeOf(pieces.per_chunk - 1, size, bucket),
                                   static_cast<unsigned>(last.bits), static_cast<unsigned>(bucket));
}

}  // namespace crossover::shrink

// Says what each thread of a GPU does for the exchange with planned bits, beside what q8_threads.h says of
// any exchange: where the codes lie, and how errors are measured. Freestanding (shrink/codec/float_bits.h).
#pragma once

#include "shrink/codec/pieces.h"
#include "shrink/kernels/q8_threads.h"

namespace crossover::shrink {

// PlannedBits is the layout of a plan. `pieces` has those of all chunks of the shard.
struct PlannedBits {
  const Piece* pieces;
  uint64_t per_chunk, length;  // those of a Pieces

  constexpr CodePlace At(size_t chunk, size_t bucket) const {
    const size_t number = bucket / length;
    const Piece& piece = pieces[chunk * per_chunk + number];
    const auto bits = static_cast<unsigned>(piece.bits);
    return {piece.begin + (bucket - number * length) * CodeBytes(bits), bits};
  }
};

// Returns 6 V of a bucket, which is count (max - min)^2, from its code; 0 if the bucket decodes to NaN.
constexpr double SixErrorsOf(const uint8_t* code, unsigned size, unsigned bits) {
  const Scale scale = ReadScale(code);
  if (!IsFinite(scale.min) || !IsFinite(scale.step)) return 0;
  const double range = static_cast<double>(scale.step) * static_cast<double>(TopLevel(bits));
  return static_cast<double>(size) * range * range;
}

// Adds the V of each piece of this rank's own chunk (codec/choice.h), of the codes of all other nodes and of
// that of the sum, to `errors`. Where `said` is not null, the errors so far go there, and begin anew. kLanes
// threads share a piece, which stands for a bucket here, and add in a fixed order.
struct StatisticsWork {
  struct Said {
    double of[kThreads];  // what each thread has found
  };

  const uint8_t* codes;  // of the chunk, by the first node
  const uint8_t* code;   // of the sum
  double* errors;        // of the chunk's pieces
  double* said;
  uint64_t count, room;  // of the chunk
  uint64_t nodes, node;
  PlannedBits layout;

  constexpr size_t Buckets() const {
    const size_t buckets = BucketsOf(count);
    return buckets / layout.length + (buckets % layout.length > 0 ? 1 : 0);
  }
  [[gnu::always_inline]] constexpr void First(size_t piece, unsigned thread, Said& shared) const {
    double found = 0;
    for (size_t i = thread % kLanes; i < layout.length; i += kLanes) {
      const size_t bucket = piece * layout.length + i;
      const unsigned size = SizeOfBucket(bucket, count);
      if (size == 0) break;
      const CodePlace place = layout.At(node, bucket);
      for (uint64_t other = 0; other < nodes; ++other) {
        const uint8_t* chunk = other == node ? code : codes + other * room;
        found += SixErrorsOf(chunk + place.begin, size, place.bits);
      }
    }
    shared.of[thread] = found;
  }
  [[gnu::always_inline]] constexpr void Second(size_t piece, unsigned thread, const Said& shared) const {
    if (thread % kLanes != 0 || piece >= Buckets()) return;
    double found = 0;
    for (unsigned i = thread; i < thread + kLanes; ++i) found += shared.of[i];
    const double sum = errors[piece] + found / 6;
    if (said != nullptr) said[piece] = sum;
    errors[piece] = said != nullptr ? 0 : sum;
  }
};

}  // namespace crossover::shrink

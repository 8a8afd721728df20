// Says what each thread of a GPU does for the exchange of codes. kernels.cu runs it on a GPU. On a host,
// RunOnHost() runs the same functions, thread after thread, so that both give the same bits. Freestanding
// (shrink/codec/float_bits.h).
//
// A Layout says how many bits the codes of a bucket have, and where they lie: EightBits, or PlannedBits
// (adaptive_threads.h).
//
// kLanes threads share a bucket, and a block of kThreads threads works on several buckets at once. Work on a
// bucket has two steps. No thread of a block begins the second before all have done the first, and what they
// say to each other in between is in a Shared.
//
// A shard is what one rank of each node exchanges with the others: `count` elements from element `first` of
// the call on. It has a chunk of `chunk` elements for each node, a multiple of the bucket; the last chunks
// may be shorter, or empty. The codes of chunk c begin c * room bytes behind those of the first.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shrink/codec/q8.h"

// Keeps the sums of a thread in registers of a GPU.
#ifdef __clang__
#define SHRINK_UNROLL _Pragma("unroll")
#else
#define SHRINK_UNROLL
#endif

namespace crossover::shrink {

inline constexpr Format kQ8{8, 512};
inline constexpr unsigned kLanes = 32;
inline constexpr unsigned kThreads = 256;
inline constexpr unsigned kBucketsAtOnce = kThreads / kLanes;  // of a block
inline constexpr unsigned kEach = kQ8.bucket / kLanes;         // elements of a bucket that a thread has
static_assert(kQ8.bits == 8, "a level is a byte");
static_assert(kQ8.bucket % kGroup == 0, "a bucket has whole groups of levels");

// Returns the bytes of the code of a whole bucket.
constexpr size_t CodeBytes(unsigned bits) { return kScaleBytes + LevelBytes(kQ8.bucket, bits); }

// A CodePlace says how many bits the code of a bucket has, and where it begins in the codes of its chunk.
struct CodePlace {
  size_t begin;
  unsigned bits;
};

// EightBits is the layout of the level q8.
struct EightBits {
  // Returns where the code of a bucket is, by its number in its chunk.
  constexpr CodePlace At(size_t, size_t bucket) const { return {bucket * CodeBytes(kQ8.bits), kQ8.bits}; }
};

// A Shared has the bounds of what each thread of a block has seen. It has no constructor, as memory that the
// threads of a block share has none.
struct Shared {
  float least[kThreads];
  float greatest[kThreads];
  bool finite[kThreads];
};

constexpr void Keep(const Bounds& bounds, unsigned thread, Shared& shared) {
  shared.least[thread] = bounds.least;
  shared.greatest[thread] = bounds.greatest;
  shared.finite[thread] = bounds.finite;
}

// Returns the scale of the bucket that a thread works on.
constexpr Scale ScaleOfBucket(const Shared& shared, unsigned thread, unsigned bits) {
  const unsigned begin = thread / kLanes * kLanes;
  Bounds bounds;
  for (unsigned i = begin; i < begin + kLanes; ++i)
    bounds.Include(Bounds{shared.least[i], shared.greatest[i], shared.finite[i]});
  return ScaleOf(bounds, bits);
}

constexpr size_t BucketsOf(size_t count) { return count / kQ8.bucket + (count % kQ8.bucket > 0 ? 1 : 0); }
// Returns the elements of a bucket; 0 behind the last one.
constexpr unsigned SizeOfBucket(size_t bucket, size_t count) {
  const size_t begin = bucket * kQ8.bucket;
  if (begin >= count) return 0;
  return count - begin < kQ8.bucket ? static_cast<unsigned>(count - begin) : kQ8.bucket;
}

// Writes what a thread has of the code of a bucket. `element` is the number of the bucket's first element in
// the call. With 8 bits neighbours are next to each other; with fewer, a thread fills whole bytes.
constexpr void WriteCode(const float* values, unsigned size, const Scale& scale, unsigned bits, uint64_t key,
                         uint64_t element, unsigned lane, uint8_t* code) {
  if (lane == 0) {
    StoreBytes(BitsOf(scale.min), 4, code);
    StoreBytes(BitsOf(scale.step), 4, code + 4);
  }
  if (bits == 8) {
    for (unsigned i = lane; i < size; i += kLanes)
      code[kScaleBytes + i] =
          static_cast<uint8_t>(LevelOf(values[i], scale, bits, Uniform(key, element + i)));
    return;
  }
  for (unsigned begin = lane * kGroup; begin < size; begin += kLanes * kGroup) {
    const unsigned in_group = size - begin < kGroup ? size - begin : static_cast<unsigned>(kGroup);
    uint64_t packed = 0;
    for (unsigned i = begin; i < begin + in_group; ++i)
      packed |= static_cast<uint64_t>(LevelOf(values[i], scale, bits, Uniform(key, element + i)))
                << ((i - begin) * bits);
    StoreBytes(packed, LevelBytes(in_group, bits), code + kScaleBytes + begin / kGroup * bits);
  }
}

// Returns the level of an element from the code of its bucket. It reads no byte behind that level.
constexpr uint32_t ReadLevel(const uint8_t* code, unsigned i, unsigned bits) {
  if (bits == 8) return code[kScaleBytes + i];
  const unsigned at = i * bits, shift = at % 8;
  const uint8_t* byte = code + kScaleBytes + at / 8;
  uint32_t two = byte[0];
  if (shift + bits > 8) two |= static_cast<uint32_t>(byte[1]) << 8;
  return two >> shift & TopLevel(bits);
}

constexpr Scale ReadScale(const uint8_t* code) {
  return {FloatOf(static_cast<uint32_t>(LoadBytes(code, 4))),
          FloatOf(static_cast<uint32_t>(LoadBytes(code + 4, 4)))};
}

// Encodes the chunks of a shard for their owners, all but the chunk `own`, which stays as it is.
template <class Layout>
struct EncodeWorkOf {
  using Said = Shared;
  const float* values;  // of the shard
  uint8_t* codes;       // of its first chunk
  uint64_t first, count, chunk, room;
  uint64_t key;  // of step 0 (codec/exchange.h)
  uint64_t own;
  Layout layout{};

  constexpr size_t Buckets() const { return BucketsOf(count); }
  // Returns whether a thread has work on a bucket.
  constexpr bool Has(size_t bucket) const { return bucket < Buckets() && bucket * kQ8.bucket / chunk != own; }
  [[gnu::always_inline]] constexpr void First(size_t bucket, unsigned thread, Shared& shared) const {
    if (!Has(bucket)) return;
    const float* from = values + bucket * kQ8.bucket;
    Bounds bounds;
    for (unsigned i = thread % kLanes; i < SizeOfBucket(bucket, count); i += kLanes) bounds.Include(from[i]);
    Keep(bounds, thread, shared);
  }
  [[gnu::always_inline]] constexpr void Second(size_t bucket, unsigned thread, const Shared& shared) const {
    if (!Has(bucket)) return;
    const size_t begin = bucket * kQ8.bucket, owner = begin / chunk;
    const CodePlace place = layout.At(owner, begin % chunk / kQ8.bucket);
    WriteCode(values + begin, SizeOfBucket(bucket, count), ScaleOfBucket(shared, thread, place.bits),
              place.bits, key, first + begin, thread % kLanes, codes + owner * room + place.begin);
  }
};
using EncodeWork = EncodeWorkOf<EightBits>;

// Adds the codes of the other nodes to this rank's own chunk, in the order of nodes, and encodes the sum.
template <class Layout>
struct SumWorkOf {
  using Said = Shared;
  const float* own;             // of the chunk
  float* sum;                   // may be `own`
  const uint8_t* codes;         // of the chunk, by the first node
  uint8_t* code;                // of the sum
  uint64_t first, count, room;  // of the chunk
  uint64_t key;                 // of step 1
  uint64_t nodes, node;
  Layout layout{};

  constexpr size_t Buckets() const { return BucketsOf(count); }
  [[gnu::always_inline]] constexpr void First(size_t bucket, unsigned thread, Shared& shared) const {
    const unsigned size = SizeOfBucket(bucket, count);
    const CodePlace place = size > 0 ? layout.At(node, bucket) : CodePlace{};
    const unsigned lane = thread % kLanes;
    float sums[kEach]{};
    SHRINK_UNROLL
    for (unsigned i = 0; i < kEach; ++i)
      if (lane + i * kLanes < size) sums[i] = own[bucket * kQ8.bucket + lane + i * kLanes];
    for (uint64_t other = 0; other < nodes; ++other) {
      if (other == node || size == 0) continue;
      const uint8_t* theirs = codes + other * room + place.begin;
      const Scale scale = ReadScale(theirs);
      SHRINK_UNROLL
      for (unsigned i = 0; i < kEach; ++i)
        if (lane + i * kLanes < size)
          sums[i] += ValueOf(ReadLevel(theirs, lane + i * kLanes, place.bits), scale);
    }
    Bounds bounds;
    SHRINK_UNROLL
    for (unsigned i = 0; i < kEach; ++i) {
      if (lane + i * kLanes >= size) continue;
      bounds.Include(sums[i]);
      sum[bucket * kQ8.bucket + lane + i * kLanes] = sums[i];
    }
    Keep(bounds, thread, shared);
  }
  [[gnu::always_inline]] constexpr void Second(size_t bucket, unsigned thread, const Shared& shared) const {
    const unsigned size = SizeOfBucket(bucket, count);
    if (size == 0) return;
    const size_t begin = bucket * kQ8.bucket;
    const CodePlace place = layout.At(node, bucket);
    WriteCode(sum + begin, size, ScaleOfBucket(shared, thread, place.bits), place.bits, key, first + begin,
              thread % kLanes, code + place.begin);
  }
};
using SumWork = SumWorkOf<EightBits>;

// Decodes the sums of all chunks of a shard, and divides them: by 1, or by the number of ranks for an
// average.
template <class Layout>
struct DecodeWorkOf {
  using Said = Shared;
  const uint8_t* codes;
  float* values;
  uint64_t count, chunk, room;
  uint64_t divisor;
  Layout layout{};

  constexpr size_t Buckets() const { return BucketsOf(count); }
  [[gnu::always_inline]] constexpr void First(size_t bucket, unsigned thread, Shared&) const {
    const unsigned size = SizeOfBucket(bucket, count);
    if (size == 0) return;
    const size_t begin = bucket * kQ8.bucket, owner = begin / chunk;
    const CodePlace place = layout.At(owner, begin % chunk / kQ8.bucket);
    const uint8_t* code = codes + owner * room + place.begin;
    const Scale scale = ReadScale(code);
    for (unsigned i = thread % kLanes; i < size; i += kLanes) {
      const float value = ValueOf(ReadLevel(code, i, place.bits), scale);
      values[begin + i] = IsNaN(value) ? kNaN : value / static_cast<float>(divisor);
    }
  }
  [[gnu::always_inline]] constexpr void Second(size_t, unsigned, const Shared&) const {}
};
using DecodeWork = DecodeWorkOf<EightBits>;

// Runs a work as one block of a GPU would.
template <class Work>
constexpr void RunOnHost(const Work& work) {
  typename Work::Said shared{};
  for (size_t base = 0; base < work.Buckets(); base += kBucketsAtOnce) {
    for (unsigned thread = 0; thread < kThreads; ++thread) work.First(base + thread / kLanes, thread, shared);
    for (unsigned thread = 0; thread < kThreads; ++thread)
      work.Second(base + thread / kLanes, thread, shared);
  }
}

}  // namespace crossover::shrink

#undef SHRINK_UNROLL

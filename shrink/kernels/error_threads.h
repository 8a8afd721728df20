// Says what each thread of a GPU does to measure the error that one encoding of a buffer makes, with bf16 and
// with 8 bits. It only reads the buffer. kernels.cu runs it on a GPU; MeasureOnHost() runs the same functions
// on a host, in the same order, so that both give the same bits. Freestanding (shrink/codec/float_bits.h).
//
// Threads, buckets and the two steps with a barrier between them are those of q8_threads.h. Each thread adds
// up what it has seen of all its buckets. Then the first thread of each 32 adds those of its 32, and the
// first thread of a block adds those sums: a block writes one ErrorPart. So there are no atomic operations,
// and the order of each sum follows from the count and kErrorBlocks alone.
//
// A bucket that 8 bits cannot hold (it has a NaN or an infinity, or its range is beyond the largest float) is
// counted, and is in no sum.
#pragma once

#include "shrink/codec/bf16.h"
#include "shrink/kernels/q8_threads.h"

namespace crossover::shrink {

// A kernel of so many blocks leaves most of a large GPU to the program.
inline constexpr unsigned kErrorBlocks = 64;

// ErrorSums are sums over elements, but for the last one. It has no constructor, as memory that the threads
// of a block share has none.
struct ErrorSums {
  double bf16;          // squared errors of bf16; infinite where a finite value becomes infinite
  double q8;            // squared errors of 8 bits
  double squares;       // of the values
  uint64_t not_finite;  // buckets that are in no sum
};

constexpr void Add(const ErrorSums& more, ErrorSums& sums) {
  sums.bf16 += more.bf16;
  sums.q8 += more.q8;
  sums.squares += more.squares;
  sums.not_finite += more.not_finite;
}

// An ErrorPart is what one block writes. `mark` is written last: a reader that sees the mark of a sample has
// the sums of that sample.
struct ErrorPart {
  ErrorSums sums;
  uint64_t mark;
};

// Returns the square of a difference that is not rounded before.
constexpr double SquaredError(float decoded, float exact) {
  const double error = static_cast<double>(decoded) - static_cast<double>(exact);
  return error * error;
}

struct ErrorWork {
  const float* values;
  uint64_t count;
  uint64_t key;  // of the random numbers of 8 bits

  constexpr size_t Buckets() const { return BucketsOf(count); }
  [[gnu::always_inline]] constexpr void First(size_t bucket, unsigned thread, Shared& shared) const {
    const float* from = values + bucket * kQ8.bucket;
    Bounds bounds;
    for (unsigned i = thread % kLanes; i < SizeOfBucket(bucket, count); i += kLanes) bounds.Include(from[i]);
    Keep(bounds, thread, shared);
  }
  [[gnu::always_inline]] constexpr void Second(size_t bucket, unsigned thread, const Shared& shared,
                                               ErrorSums& sums) const {
    const unsigned size = SizeOfBucket(bucket, count);
    const unsigned lane = thread % kLanes;
    if (size == 0) return;
    const Scale scale = ScaleOfBucket(shared, thread, kQ8.bits);
    if (IsNaN(scale.min)) {
      if (lane == 0) ++sums.not_finite;
      return;
    }
    const size_t begin = bucket * kQ8.bucket;
    for (unsigned i = lane; i < size; i += kLanes) {
      const float value = values[begin + i];
      const uint32_t level = LevelOf(value, scale, kQ8.bits, Uniform(key, begin + i));
      Add({SquaredError(FromBf16(ToBf16(value)), value), SquaredError(ValueOf(level, scale), value),
           SquaredError(value, 0), 0},
          sums);
    }
  }
};

// Returns the sum of `count` sums that are `stride` apart, in their order.
constexpr ErrorSums SumOf(const ErrorSums* sums, unsigned count, unsigned stride) {
  ErrorSums sum{};
  for (unsigned i = 0; i < count; ++i) Add(sums[i * stride], sum);
  return sum;
}

// Does the work as kErrorBlocks blocks of a GPU would. `parts` has room for them; their marks stay as they
// are.
constexpr void MeasureOnHost(const ErrorWork& work, ErrorPart* parts) {
  for (size_t block = 0; block < kErrorBlocks; ++block) {
    Shared shared{};
    ErrorSums of_threads[kThreads]{};
    for (size_t base = block * kBucketsAtOnce; base < work.Buckets(); base += kErrorBlocks * kBucketsAtOnce) {
      for (unsigned thread = 0; thread < kThreads; ++thread)
        work.First(base + thread / kLanes, thread, shared);
      for (unsigned thread = 0; thread < kThreads; ++thread)
        work.Second(base + thread / kLanes, thread, shared, of_threads[thread]);
    }
    for (unsigned first = 0; first < kThreads; first += kLanes)
      of_threads[first] = SumOf(of_threads + first, kLanes, 1);
    parts[block].sums = SumOf(of_threads, kBucketsAtOnce, kLanes);
  }
}

}  // namespace crossover::shrink

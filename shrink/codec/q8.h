// Encodes floats as levels of b bits, b from 1 to 8, without bias. Freestanding (float_bits.h).
//
// A buffer is divided into buckets of B elements; the last one may have fewer. With the least and the
// greatest value of a bucket, n = 2^b - 1 and the step u = (max - min) / n, the level of x is floor((x - min)
// / u + t), at most n. Here t is uniform in [0, 1) (draw.h), so that the expectation of min + u * level is x.
// The expected squared error is u^2 f (1 - f) for an element that lies the fraction f of a step above a
// level: at most u^2 / 4, and u^2 / 6 on average if f is uniform. An error is always less than u, up to
// rounding. This is the quantiser of QSGD, by buckets, as in CGX (arXiv 2111.08617).
//
// A bucket is min and u, as floats with the lowest byte first, and then its levels, b bits each, from the
// lowest bit of the first byte. The bits behind the last level are 0.
//
// A bucket that has a NaN or an infinity, or whose max - min or highest level is no finite float, decodes to
// NaN as a whole. So each rank sees that something was not finite. -0 becomes +0. There is no smallest step:
// where neither a subnormal number nor an overflow comes up, the code of s * x is s times that of x for a
// power of two s.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shrink/codec/draw.h"
#include "shrink/codec/float_bits.h"

namespace crossover::shrink {

struct Format {
  unsigned bits = 8;      // of a level, 1 to kMostBits
  unsigned bucket = 512;  // elements, 1 to kMostBucket
};

inline constexpr unsigned kMostBits = 8;
inline constexpr unsigned kMostBucket = 1u << 16;
inline constexpr uint64_t kMostCount = uint64_t{1} << 48;  // its bytes still fit into 64 bits
inline constexpr size_t kScaleBytes = 8;                   // min and u of a bucket
inline constexpr size_t kGroup = 8;                        // levels that fill `bits` bytes

// Returns whether so many elements can be encoded in this format.
constexpr bool IsValid(size_t count, const Format& format) {
  return format.bits >= 1 && format.bits <= kMostBits && format.bucket >= 1 && format.bucket <= kMostBucket &&
         count <= kMostCount;
}

// Returns the bytes of `count` levels.
constexpr size_t LevelBytes(size_t count, unsigned bits) { return (count * bits + 7) / 8; }

// Returns the bytes of `count` elements: floor(count / B) (8 + ceil(B b / 8)), and 8 + ceil(r b / 8) for r =
// count mod B elements that are left. Returns 0 if IsValid() returns false.
constexpr size_t EncodedBytes(size_t count, unsigned bits, unsigned bucket) {
  if (!IsValid(count, {bits, bucket})) return 0;
  const size_t rest = count % bucket;
  return count / bucket * (kScaleBytes + LevelBytes(bucket, bits)) +
         (rest > 0 ? kScaleBytes + LevelBytes(rest, bits) : 0);
}

// Returns the highest level, which is n.
constexpr uint32_t TopLevel(unsigned bits) { return (1u << bits) - 1; }

// The Bounds of values do not depend on the order in which they are included.
struct Bounds {
  float least = FloatOf(kInfinityBits);
  float greatest = -FloatOf(kInfinityBits);
  bool finite = true;

  constexpr void Include(const Bounds& other) {
    if (other.least < least) least = other.least;
    if (other.greatest > greatest) greatest = other.greatest;
    finite = finite && other.finite;
  }
  constexpr void Include(float value) { Include(Bounds{value, value, IsFinite(value)}); }
};

struct Scale {
  float min = kNaN;
  float step = 0;
};

// Returns the scale of a bucket, or Scale{} if the bucket decodes to NaN. The step is rounded up where n
// steps would end below the greatest value: the quotient of a small range is subnormal and may be much too
// small, or 0.
constexpr Scale ScaleOf(const Bounds& bounds, unsigned bits) {
  if (!bounds.finite) return {};
  const float top = static_cast<float>(TopLevel(bits));
  const float range = bounds.greatest - bounds.least;
  float step = range / top;
  if (step * top < range) step = FloatOf(BitsOf(step) + 1);
  const Scale scale{bounds.least + 0.0f, step};  // the sum is +0 for both zeros
  return IsFinite(scale.min + step * top) ? scale : Scale{};
}

// Returns floor((value - min) / step + t), at most the highest level, and 0 if the step is 0. `t` is a
// multiple of 2^-24 in [0, 1), and `value` is one of the values of the bucket. The sum is not rounded: a sum
// that is rounded up to the next whole number would be a bias.
constexpr uint32_t LevelOf(float value, const Scale& scale, unsigned bits, float t) {
  if (scale.step == 0) return 0;
  const uint32_t top = TopLevel(bits);
  const float at = (value - scale.min) / scale.step;
  if (!(at < static_cast<float>(top))) return top;
  const uint32_t below = static_cast<uint32_t>(at);
  return below + (at - static_cast<float>(below) >= 1.0f - t ? 1 : 0);
}

// Returns min + step * level, or NaN if min or step is not finite.
constexpr float ValueOf(uint32_t level, const Scale& scale) {
  if (!IsFinite(scale.min) || !IsFinite(scale.step)) return kNaN;
  return scale.min + scale.step * static_cast<float>(level);
}

constexpr void StoreBytes(uint64_t value, size_t size, uint8_t* bytes) {
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>(value >> (8 * i));
}

constexpr uint64_t LoadBytes(const uint8_t* bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; ++i) value |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  return value;
}

// Writes a bucket of `count` elements. `first` is the index of its first element for Uniform(). `bytes` has
// room for kScaleBytes + LevelBytes(count, bits).
constexpr void EncodeBucket(const float* values, size_t count, unsigned bits, uint64_t key, uint64_t first,
                            uint8_t* bytes) {
  Bounds bounds;
  for (size_t i = 0; i < count; ++i) bounds.Include(values[i]);
  const Scale scale = ScaleOf(bounds, bits);
  StoreBytes(BitsOf(scale.min), 4, bytes);
  StoreBytes(BitsOf(scale.step), 4, bytes + 4);
  for (size_t begin = 0; begin < count; begin += kGroup) {
    const size_t size = count - begin < kGroup ? count - begin : kGroup;
    uint64_t packed = 0;
    for (size_t i = 0; i < size; ++i) {
      const float t = Uniform(key, first + begin + i);
      packed |= static_cast<uint64_t>(LevelOf(values[begin + i], scale, bits, t)) << (i * bits);
    }
    StoreBytes(packed, LevelBytes(size, bits), bytes + kScaleBytes + begin / kGroup * bits);
  }
}

// Reads a bucket of `count` elements. If `kAdd`, it adds them to `values`.
template <bool kAdd>
constexpr void DecodeBucket(const uint8_t* bytes, size_t count, unsigned bits, float* values) {
  const Scale scale{FloatOf(static_cast<uint32_t>(LoadBytes(bytes, 4))),
                    FloatOf(static_cast<uint32_t>(LoadBytes(bytes + 4, 4)))};
  for (size_t begin = 0; begin < count; begin += kGroup) {
    const size_t size = count - begin < kGroup ? count - begin : kGroup;
    const uint64_t packed = LoadBytes(bytes + kScaleBytes + begin / kGroup * bits, LevelBytes(size, bits));
    for (size_t i = 0; i < size; ++i) {
      const float value = ValueOf(static_cast<uint32_t>(packed >> (i * bits)) & TopLevel(bits), scale);
      values[begin + i] = kAdd ? values[begin + i] + value : value;
    }
  }
}

// Encodes `count` values into `bytes`, which do not overlap. Returns false, and writes nothing, if IsValid()
// returns false or `size` is not EncodedBytes(). Else it writes all `size` bytes.
constexpr bool Encode(const float* values, size_t count, const Format& format, const Draw& draw,
                      uint8_t* bytes, size_t size) {
  if (!IsValid(count, format) || size != EncodedBytes(count, format.bits, format.bucket)) return false;
  const uint64_t key = KeyOf(draw);
  const size_t stride = kScaleBytes + LevelBytes(format.bucket, format.bits);
  for (size_t begin = 0; begin < count; begin += format.bucket) {
    const size_t in_bucket = count - begin < format.bucket ? count - begin : format.bucket;
    EncodeBucket(values + begin, in_bucket, format.bits, key, draw.first + begin,
                 bytes + begin / format.bucket * stride);
  }
  return true;
}

// Decodes `count` values. The bytes may contain anything. Returns false, and writes nothing, if IsValid()
// returns false or `size` is not EncodedBytes(). If `kAdd`, it adds the values to those that are there.
template <bool kAdd>
constexpr bool DecodeInto(const uint8_t* bytes, size_t size, size_t count, const Format& format,
                          float* values) {
  if (!IsValid(count, format) || size != EncodedBytes(count, format.bits, format.bucket)) return false;
  const size_t stride = kScaleBytes + LevelBytes(format.bucket, format.bits);
  for (size_t begin = 0; begin < count; begin += format.bucket) {
    const size_t in_bucket = count - begin < format.bucket ? count - begin : format.bucket;
    DecodeBucket<kAdd>(bytes + begin / format.bucket * stride, in_bucket, format.bits, values + begin);
  }
  return true;
}

constexpr bool Decode(const uint8_t* bytes, size_t size, size_t count, const Format& format, float* values) {
  return DecodeInto<false>(bytes, size, count, format, values);
}

// Decodes and adds, which is what the owner of a chunk does with the chunks of the others.
constexpr bool DecodeAdd(const uint8_t* bytes, size_t size, size_t count, const Format& format,
                         float* values) {
  return DecodeInto<true>(bytes, size, count, format, values);
}

}  // namespace crossover::shrink

#include "benchmarks/shrink_bits/codecs.h"

#include <algorithm>
#include <cmath>

#include "shrink/kernels/q8_threads.h"

namespace crossover::shrink_bits {
namespace {

using shrink::Scale;

// Encodes and decodes bucket by bucket. `scale_of` gets the values of a bucket and the bits, and `t` gets the
// index of an element.
template <class ScaleOfBucket, class UniformOfElement>
Floats ByBuckets(const Floats& values, const Format& format, ScaleOfBucket scale_of, UniformOfElement t) {
  Floats result;
  for (std::size_t begin = 0; begin < values.size(); begin += format.bucket) {
    const std::size_t end = std::min<std::size_t>(values.size(), begin + format.bucket);
    const Floats decoded = shrink::RoundTripWith(
        {values.data() + begin, values.data() + end}, format.bits,
        [&](const Floats& bucket) { return scale_of(bucket, format.bits); },
        [&](std::size_t i) { return t(begin + i); });
    result.insert(result.end(), decoded.begin(), decoded.end());
  }
  return result;
}

auto Drawn(const Draw& draw) {
  return [key = shrink::KeyOf(draw), first = draw.first](std::size_t i) {
    return shrink::Uniform(key, first + i);
  };
}

}  // namespace

Floats Shipped(const Floats& values, const Format& format, const Draw& draw) {
  return shrink::RoundTrip(values, format, draw).value();
}

Floats ByThreads(const Floats& values, const Format&, const Draw& draw) {
  const std::uint64_t count = values.size(), chunk = shrink::BucketsOf(count) * shrink::kQ8.bucket;
  const std::uint64_t room = shrink::EncodedBytes(chunk, shrink::kQ8.bits, shrink::kQ8.bucket);
  std::vector<std::uint8_t> codes(room);
  Floats decoded(count);
  // The owner of a chunk does not encode it here, so the owner is another one, behind the only chunk.
  shrink::RunOnHost(shrink::EncodeWork{values.data(), codes.data(), draw.first, count, chunk, room,
                                       shrink::KeyOf(draw), 1});
  shrink::RunOnHost(shrink::DecodeWork{codes.data(), decoded.data(), count, chunk, room, 1});
  return decoded;
}

Floats Nearest(const Floats& values, const Format& format, const Draw&) {
  return ByBuckets(values, format, shrink::ScaleOfValues, [](std::size_t) { return 0.5F; });
}

Floats SameNumbers(const Floats& values, const Format& format, const Draw& draw) {
  return Shipped(values, format, {draw.seed, 0, draw.first});
}

Floats OneBitLess(const Floats& values, const Format& format, const Draw& draw) {
  return Shipped(values, {format.bits - 1, format.bucket}, draw);
}

Floats OneBucket(const Floats& values, const Format& format, const Draw& draw) {
  return Shipped(values, {format.bits, shrink::kMostBucket}, draw);
}

Floats SmallestStep(const Floats& values, const Format& format, const Draw& draw) {
  const auto scale_of = [](const Floats& bucket, unsigned bits) {
    const Scale scale = shrink::ScaleOfValues(bucket, bits);
    return Scale{scale.min, std::max(scale.step, 1e-10F)};
  };
  return ByBuckets(values, format, scale_of, Drawn(draw));
}

Floats PlainBounds(const Floats& values, const Format& format, const Draw& draw) {
  const auto scale_of = [](const Floats& bucket, unsigned bits) {
    float least = bucket[0], greatest = bucket[0];
    for (const float value : bucket) {
      least = std::fmin(least, value);
      greatest = std::fmax(greatest, value);
    }
    return Scale{least, (greatest - least) / static_cast<float>(shrink::TopLevel(bits))};
  };
  return ByBuckets(values, format, scale_of, Drawn(draw));
}

Floats LeavesRestOut(const Floats& values, const Format& format, const Draw& draw) {
  Floats decoded = Shipped(values, format, draw);
  const std::size_t whole = values.size() / format.bucket * format.bucket;
  std::fill(decoded.begin() + static_cast<std::ptrdiff_t>(whole), decoded.end(), 0.0F);
  return decoded;
}

}  // namespace crossover::shrink_bits

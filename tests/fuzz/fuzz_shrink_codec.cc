// libs: crossover::shrink_codec
// Decodes bytes of another rank, which may contain anything. A wrong size is refused, and nothing is read
// behind the end. The same bytes, read as floats, are encoded: each comes back within its step, or its whole
// bucket is NaN.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "shrink/codec/q8.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/require.h"

namespace shrink = crossover::shrink;
using crossover::fuzz::Require;

namespace {

using Floats = std::vector<float>;
using Encoded = std::vector<std::uint8_t>;  // of its own size, so that a sanitizer sees a read behind its end

constexpr std::size_t kHeader = 1 + 3 + 8;

void CheckForeign(const Encoded& bytes, std::size_t count, const shrink::Format& format) {
  const bool fits = shrink::IsValid(count, format) &&
                    bytes.size() == shrink::EncodedBytes(count, format.bits, format.bucket);
  if (!fits) {
    Require(!shrink::Decode(bytes.data(), bytes.size(), count, format, nullptr));
    Require(!shrink::DecodeAdd(bytes.data(), bytes.size(), count, format, nullptr));
    return;
  }
  Floats values(count), sums(count, 1);
  Require(shrink::Decode(bytes.data(), bytes.size(), count, format, values.data()));
  Require(shrink::DecodeAdd(bytes.data(), bytes.size(), count, format, sums.data()));
  for (std::size_t i = 0; i < count; ++i) {
    Require(shrink::IsNaN(values[i]) ? shrink::IsNaN(sums[i]) : sums[i] == 1 + values[i]);
  }
}

void CheckBucket(const float* values, const float* decoded, std::size_t count, unsigned bits) {
  shrink::Bounds bounds;
  for (std::size_t i = 0; i < count; ++i) bounds.Include(values[i]);
  const shrink::Scale scale = shrink::ScaleOf(bounds, bits);
  const double rounding = 1e-6 * (std::abs(double{bounds.least}) + std::abs(double{bounds.greatest}));
  for (std::size_t i = 0; i < count; ++i) {
    Require(shrink::IsNaN(decoded[i]) == shrink::IsNaN(scale.min));
    if (bounds.finite && shrink::IsFinite(scale.min))
      Require(std::abs(double{decoded[i]} - values[i]) <= double{scale.step} + rounding);
    else
      Require(shrink::IsNaN(decoded[i]));
  }
}

void CheckOwn(const Floats& values, const shrink::Format& format, std::uint64_t seed) {
  Encoded bytes(shrink::EncodedBytes(values.size(), format.bits, format.bucket));
  const bool encoded =
      shrink::Encode(values.data(), values.size(), format, {seed, 1, 2}, bytes.data(), bytes.size());
  Require(encoded == shrink::IsValid(values.size(), format));
  if (!encoded) return;
  Floats decoded(values.size());
  Require(shrink::Decode(bytes.data(), bytes.size(), values.size(), format, decoded.data()));
  for (std::size_t begin = 0; begin < values.size(); begin += format.bucket) {
    const std::size_t left = values.size() - begin;
    CheckBucket(values.data() + begin, decoded.data() + begin, left < format.bucket ? left : format.bucket,
                format.bits);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  crossover::fuzz::Bytes input(data, size);
  shrink::Format format;
  format.bits = input.NextByte();
  input.Take(&format.bucket, 3);
  format.bucket %= shrink::kMostBucket + 2;
  const auto count = input.Next<std::uint64_t>();
  const Encoded bytes = size < kHeader ? Encoded() : Encoded(data + kHeader, data + size);
  CheckForeign(bytes, count, format);
  Floats values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  CheckOwn(values, format, count);
  return 0;
}

// Reads the two kinds of bit streams of Zstandard. Both count bits of a byte from the lowest one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "simgpu/image/view.h"

namespace simgpu::image::zstd {

// Returns bits `at` to `at + count` of the bytes; those outside are zeros. REQUIRES: count <= 56.
inline std::uint64_t BitsAt(View bytes, std::int64_t at, int count) {
  if (at < 0) {
    const std::int64_t missing = std::min<std::int64_t>(-at, count);
    return missing == count ? 0 : BitsAt(bytes, 0, count - static_cast<int>(missing)) << missing;
  }
  const auto byte = static_cast<std::uint64_t>(at) / 8;
  std::uint64_t window = 0;
  if (byte < bytes.size()) {
    std::memcpy(&window, bytes.data() + byte, std::min<std::uint64_t>(sizeof window, bytes.size() - byte));
  }
  return window >> (at % 8) & ((std::uint64_t{1} << count) - 1);
}

// Reads bits from the first one on.
class ForwardBits {
 public:
  explicit ForwardBits(View bytes) : bytes_(bytes) {}
  std::uint32_t Read(int count) {
    const auto value = static_cast<std::uint32_t>(BitsAt(bytes_, at_, count));
    at_ += count;
    return value;
  }
  void Back(int count) { at_ -= count; }
  // Returns how many bytes have been begun.
  std::uint64_t BytesUsed() const { return static_cast<std::uint64_t>(at_ + 7) / 8; }
  bool Overrun() const { return BytesUsed() > bytes_.size(); }

 private:
  View bytes_;
  std::int64_t at_ = 0;
};

// Reads bits from the last one to the first one. The highest bit that is set in the last byte marks the end.
class BackwardBits {
 public:
  // A stream that is empty, or has no mark, is Overrun() from the beginning.
  explicit BackwardBits(View bytes) : bytes_(bytes) {
    if (bytes.empty() || bytes.back() == 0) return;
    at_ = static_cast<std::int64_t>(bytes.size() - 1) * 8 + std::bit_width(bytes.back()) - 1;
  }
  std::uint64_t Peek(int count) const { return BitsAt(bytes_, at_ - count, count); }
  void Skip(int count) { at_ -= count; }
  std::uint64_t Read(int count) {
    Skip(count);
    return BitsAt(bytes_, at_, count);
  }
  // Returns whether more bits were read than there are.
  bool Overrun() const { return at_ < 0; }
  bool AtEnd() const { return at_ == 0; }

 private:
  View bytes_;
  std::int64_t at_ = -1;
};

}  // namespace simgpu::image::zstd

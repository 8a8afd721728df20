// Reads bytes that other programs wrote, within their bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

namespace simgpu::image {

// A View refers to bytes that its maker keeps alive.
using View = std::span<const std::uint8_t>;

// Returns `bytes` bytes from `at`, or no value if they do not lie within `view`.
inline std::optional<View> Part(View view, std::uint64_t at, std::uint64_t bytes) {
  if (at > view.size() || bytes > view.size() - at) return std::nullopt;
  return view.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes));
}

// Reads a number or a structure of numbers, as a little-endian machine lays it out, at any alignment. Returns
// no value if it does not lie within `view`.
template <typename T>
std::optional<T> ReadAt(View view, std::uint64_t at) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::optional<View> part = Part(view, at, sizeof(T));
  if (!part) return std::nullopt;
  T value;
  std::memcpy(&value, part->data(), sizeof value);
  return value;
}

}  // namespace simgpu::image

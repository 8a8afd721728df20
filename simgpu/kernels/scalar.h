// Converts between the types of numbers that PyTorch's tensors hold. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace simgpu {

// A Scalar is a type, by the number that PyTorch gives it (c10::ScalarType). Those that are missing here,
// such as quantised ones, are not converted.
enum class Scalar : std::uint8_t {
  kByte = 0,
  kChar = 1,
  kShort = 2,
  kInt = 3,
  kLong = 4,
  kHalf = 5,
  kFloat = 6,
  kDouble = 7,
  kComplexFloat = 9,
  kComplexDouble = 10,
  kBool = 11,
  kBFloat16 = 15,
  kUInt16 = 27,
  kUInt32 = 28,
  kUInt64 = 29,
};

// Returns the bytes of an element, or 0 if `type` is a number that no Scalar has.
std::size_t BytesOf(Scalar type);

// Returns the type at the beginning of a mangled name, and removes it from *name; no value if there is none.
std::optional<Scalar> TakeMangledScalar(std::string_view* name);

// Converts `count` elements, as C++ converts one number to another: `to` is as long as they are, and need not
// be aligned. REQUIRES: both types have bytes, and the memory does not overlap.
void Convert(const void* from, Scalar from_type, void* to, Scalar to_type, std::size_t count);

}  // namespace simgpu

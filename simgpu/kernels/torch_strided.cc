#include "simgpu/kernels/torch_strided.h"

#include <algorithm>
#include <cstring>

namespace simgpu::torch {
namespace {

// The structure begins with the number of dimensions. Room for 25 divisors of three words follows, of which
// the first word is the size, and then room for the strides of 25 dimensions.
constexpr std::size_t kMostDims = 25;
constexpr std::size_t kSizesAt = 4, kSizeBytes = 12;
constexpr std::size_t kStridesAt = kSizesAt + kMostDims * kSizeBytes;

}  // namespace

bool Strided::IsLoop(std::string_view name, const std::vector<std::size_t>& parameter_bytes,
                     std::size_t tensors) {
  constexpr std::size_t kBytes[] = {0, 432, 536};  // of the structure, for so many tensors
  constexpr std::size_t kBytesWithCasts[] = {0, 440, 536};
  return name.find("18elementwise_kernelI") != std::string_view::npos && parameter_bytes.size() == 2 &&
         (parameter_bytes[1] == kBytes[tensors] || parameter_bytes[1] == kBytesWithCasts[tensors]);
}

bool Strided::HasCasts(std::string_view name) {
  return name.find("15gpu_kernel_implI") != std::string_view::npos;
}

Strided::Strided(const void* structure, std::size_t tensors)
    : structure_(static_cast<const unsigned char*>(structure)),
      tensors_(tensors),
      dims_(std::min<std::size_t>(Word(0), kMostDims)) {}

std::uint32_t Strided::Word(std::size_t at) const {
  std::uint32_t word = 0;
  std::memcpy(&word, structure_ + at, sizeof word);
  return word;
}

std::uint32_t Strided::Size(std::size_t dimension) const {
  return std::max(Word(kSizesAt + dimension * kSizeBytes), 1u);
}

std::uint32_t Strided::Stride(std::size_t dimension, std::size_t tensor) const {
  return Word(kStridesAt + (dimension * tensors_ + tensor) * 4);
}

std::size_t Strided::PointersAt() const { return (kStridesAt + kMostDims * tensors_ * 4 + 7) / 8 * 8; }

unsigned char* Strided::Pointer(std::size_t tensor) const {
  unsigned char* pointer = nullptr;
  std::memcpy(&pointer, structure_ + PointersAt() + tensor * sizeof pointer, sizeof pointer);
  return pointer;
}

unsigned char* Strided::At(std::size_t tensor, std::uint64_t index) const {
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < dims_; ++i) {
    offset += index % Size(i) * Stride(i, tensor);
    index /= Size(i);
  }
  return Pointer(tensor) + offset;
}

bool Strided::AreKnown(std::size_t tensor, std::size_t element_bytes, const EffectMemory& memory) const {
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < dims_; ++i) last += std::uint64_t{Size(i) - 1} * Stride(i, tensor);
  return memory.known(Pointer(tensor), last + element_bytes);
}

}  // namespace simgpu::torch

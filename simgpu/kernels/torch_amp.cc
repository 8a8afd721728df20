// Implements the effects of PyTorch's kernels for mixed precision (AmpKernels.cu, MultiTensorApply.cuh): the
// search for gradients that are not finite, and the change of the scale. GradScaler skips a step by the one,
// and finds the next scale by the other.
#include <algorithm>
#include <cmath>

#include "simgpu/kernels/scalar.h"
#include "simgpu/kernels/torch.h"

namespace simgpu::torch {
namespace {

using std::string_view;

// A TensorList names the tensors of one launch. Each block takes one chunk of one tensor.
constexpr std::size_t kMostTensors = 770, kMostBlocks = 2240;
constexpr std::uint64_t kChunk = 65'536;  // elements
struct TensorList {
  unsigned char* addresses[kMostTensors];
  std::int64_t elements[kMostTensors];
  std::uint16_t tensor_of_block[kMostBlocks];
  std::int32_t chunk_of_block[kMostBlocks];
  std::int32_t first_tensor;
};
static_assert(sizeof(TensorList) == 25'768);

// A Search says where the search notes what it found, and where the reciprocal of the scale is.
struct Search {
  float* found;
  const float* inverse_scale;
  const void* unused;  // nvcc's wrapper of a lambda has it
};

// A Chunk is what one block reads.
struct Chunk {
  const unsigned char* begin = nullptr;
  std::uint64_t elements = 0;
};

Chunk ChunkOf(const TensorList& list, std::size_t block, std::size_t bytes) {
  const std::size_t tensor = list.tensor_of_block[block];
  if (tensor >= kMostTensors || list.chunk_of_block[block] < 0) return {};
  const auto whole = static_cast<std::uint64_t>(std::max<std::int64_t>(list.elements[tensor], 0));
  const std::uint64_t first = static_cast<std::uint64_t>(list.chunk_of_block[block]) * kChunk;
  if (first >= whole) return {};
  return {list.addresses[tensor] + first * bytes, std::min(kChunk, whole - first)};
}

std::size_t Blocks(const ParameterView& launch) { return std::min<std::size_t>(launch.grid[0], kMostBlocks); }

// Returns whether all elements of a chunk are infinite. The software GPU computes no gradients: what lies in
// their memory is chance, and single values that are not finite may, too. Only a fill makes all of them
// infinite.
bool IsInfinite(const Chunk& chunk, Scalar type) {
  for (std::uint64_t i = 0; i < chunk.elements; ++i) {
    double value = 0;
    Convert(chunk.begin + i * BytesOf(type), type, &value, Scalar::kDouble, 1);
    if (!std::isinf(value)) return false;
  }
  return chunk.elements > 0;
}

// Notes whether a chunk is infinite. The gradients stay as they are, because nothing decides by them.
bool FindInfinite(const ParameterView& launch, Scalar type, const EffectMemory& memory) {
  const auto list = launch.Get<TensorList>(0);
  const auto search = launch.Get<Search>(2);
  if (!memory.known(search.found, sizeof(float))) return false;
  bool found = false;
  for (std::size_t block = 0; block < Blocks(launch); ++block) {
    const Chunk chunk = ChunkOf(list, block, BytesOf(type));
    if (chunk.elements == 0) continue;
    if (!memory.known(chunk.begin, chunk.elements * BytesOf(type))) return false;
    found = found || IsInfinite(chunk, type);
  }
  if (found) *search.found = 1;
  return true;
}

std::uint64_t BytesOfSearch(const ParameterView& launch, Scalar type) {
  const auto list = launch.Get<TensorList>(0);
  std::uint64_t bytes = 0;
  for (std::size_t block = 0; block < Blocks(launch); ++block)
    bytes += 2 * ChunkOf(list, block, BytesOf(type)).elements * BytesOf(type);
  return bytes;
}

// Makes the scale smaller after a step that was skipped, and larger after `interval` steps in a row that were
// not.
bool UpdateScale(const ParameterView& launch, const EffectMemory& memory) {
  auto* scale = launch.Get<float*>(0);
  auto* in_a_row = launch.Get<std::int32_t*>(1);
  const auto* found = launch.Get<const float*>(2);
  if (!memory.known(scale, sizeof *scale) || !memory.known(in_a_row, sizeof *in_a_row) ||
      !memory.known(found, sizeof *found)) {
    return false;
  }
  if (*found != 0) {
    *scale = static_cast<float>(*scale * launch.Get<double>(4));
    *in_a_row = 0;
    return true;
  }
  if (++*in_a_row < launch.Get<std::int32_t>(5)) return true;
  const auto larger = static_cast<float>(*scale * launch.Get<double>(3));
  if (std::isfinite(larger)) *scale = larger;
  *in_a_row = 0;
  return true;
}

}  // namespace

std::optional<Effect> MakeSearch(string_view name, const std::vector<std::size_t>& parameter_bytes) {
  constexpr string_view kList = "18TensorListMetadataILi1EE", kFunctor = "14UnaryOpFunctorI";
  if (name.find("25multi_tensor_apply_kernelI") == string_view::npos ||
      name.find(kList) == string_view::npos || name.find(kFunctor) == string_view::npos ||
      parameter_bytes.size() != 3 || parameter_bytes[0] != sizeof(TensorList) ||
      parameter_bytes[2] != sizeof(Search)) {
    return std::nullopt;
  }
  string_view rest = name.substr(name.find(kFunctor) + kFunctor.size());
  const auto type = TakeMangledScalar(&rest);
  if (!type || BytesOf(*type) == 0) return std::nullopt;
  return Effect{[type = *type](const ParameterView& launch) { return BytesOfSearch(launch, type); },
                [type = *type](const ParameterView& launch, const EffectMemory& memory) {
                  return FindInfinite(launch, type, memory);
                }};
}

std::optional<Effect> MakeScale(string_view, const std::vector<std::size_t>& parameter_bytes) {
  if (parameter_bytes != std::vector<std::size_t>{8, 8, 8, 8, 8, 4}) return std::nullopt;
  return Effect{[](const ParameterView&) { return 2 * sizeof(float) + sizeof(std::int32_t); }, UpdateScale};
}

}  // namespace simgpu::torch

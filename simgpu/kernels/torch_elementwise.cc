// Implements the effects of PyTorch's elementwise loops, over contiguous tensors and over strided ones.
#include <algorithm>
#include <cstring>

#include "simgpu/kernels/scalar.h"
#include "simgpu/kernels/torch.h"
#include "simgpu/kernels/torch_strided.h"

namespace simgpu::torch {
namespace {

using std::string_view;

// Returns the number of elements, which is the first parameter of each of these kernels.
std::uint64_t Count(const ParameterView& launch) {
  return static_cast<std::uint64_t>(std::max(launch.Get<std::int32_t>(0), 0));
}

// Pointers are the result and the operand of a copy, in the third parameter.
struct Pointers {
  unsigned char* to;
  const unsigned char* from;
};

bool Has(string_view name, string_view part) { return name.find(part) != string_view::npos; }

// Returns whether the kernel goes through contiguous tensors: count, function, pointers come first among its
// parameters.
bool IsContiguous(string_view name) {
  return Has(name, "29vectorized_elementwise_kernelI") || Has(name, "27unrolled_elementwise_kernelI");
}

// In kernels that load and store with a cast, this follows the pointers: two calculators without data, and
// two of these.
struct Cast {
  Scalar type;
  std::uint8_t unused[3];
  std::uint32_t bytes;
};
constexpr std::size_t kLoadCast = 5, kStoreCast = 6;

bool HasCasts(string_view name) { return Has(name, "12LoadWithCastI"); }

void FillWith(const unsigned char* value, std::size_t bytes, std::uint64_t count, unsigned char* to) {
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(to + i * bytes, value, bytes);
}

bool Fill(const ParameterView& launch, std::size_t bytes, const EffectMemory& memory) {
  const std::uint64_t count = Count(launch);
  auto* to = launch.Get<unsigned char*>(2);
  if (count == 0) return true;
  if (!memory.known(to, count * bytes)) return false;
  const auto* value = static_cast<const unsigned char*>(launch.parameters[1]);
  if (std::all_of(value, value + bytes, [](unsigned char byte) { return byte == 0; })) {
    memory.zero(to, count * bytes);
  } else {
    FillWith(value, bytes, count, to);
  }
  return true;
}

// A Types is what a copy converts between.
struct Types {
  Scalar from, to;
};

std::uint64_t BytesOfCopy(std::uint64_t count, const Types& types) {
  return count * (BytesOf(types.from) + BytesOf(types.to));
}

bool CopyAll(const ParameterView& launch, const Types& types, const EffectMemory& memory) {
  const std::uint64_t count = Count(launch);
  const auto pointers = launch.Get<Pointers>(2);
  const std::uint64_t from_bytes = count * BytesOf(types.from), to_bytes = count * BytesOf(types.to);
  const bool by_element = types.from != types.to;
  if (from_bytes == 0 || to_bytes == 0 || std::max(from_bytes, to_bytes) >= memory.hollow_from) return true;
  if (by_element && from_bytes + to_bytes >= kMostByElement) return true;
  if (!memory.known(pointers.from, from_bytes) || !memory.known(pointers.to, to_bytes)) return false;
  Convert(pointers.from, types.from, pointers.to, types.to, static_cast<std::size_t>(count));
  return true;
}

bool CopyStrided(const ParameterView& launch, const Types& types, const EffectMemory& memory) {
  const std::uint64_t count = Count(launch);
  if (count == 0 || BytesOf(types.from) == 0 || BytesOf(types.to) == 0) return true;
  if (BytesOfCopy(count, types) >= std::min(kMostByElement, memory.hollow_from)) return true;
  const Strided tensors(launch.parameters[1], 2);
  if (!tensors.AreKnown(0, BytesOf(types.to), memory) || !tensors.AreKnown(1, BytesOf(types.from), memory))
    return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    Convert(tensors.At(1, i), types.from, tensors.At(0, i), types.to, 1);
  }
  return true;
}

bool FillStrided(const ParameterView& launch, std::size_t bytes, const EffectMemory& memory) {
  const std::uint64_t count = Count(launch);
  if (count == 0 || count * bytes >= kMostByElement) return true;
  const Strided tensor(launch.parameters[1], 1);
  if (!tensor.AreKnown(0, bytes, memory)) return false;
  for (std::uint64_t i = 0; i < count; ++i) std::memcpy(tensor.At(0, i), tensor.Function(), bytes);
  return true;
}

template <typename TypesOf>
Effect CopyBetween(bool strided, const TypesOf& types_of) {
  return {[=](const ParameterView& launch) { return BytesOfCopy(Count(launch), types_of(launch)); },
          [=](const ParameterView& launch, const EffectMemory& memory) {
            return (strided ? CopyStrided : CopyAll)(launch, types_of(launch), memory);
          }};
}

// Returns the type of the parameter of the lambda that copies: it is the first one behind the name of the
// kernel that is not a member of another, and `E_` follows its type.
std::optional<Scalar> TypeOfLambda(string_view name) {
  const std::size_t lambda = name.find("EUl", std::min(name.find("direct_copy_kernel_cuda"), name.size()));
  if (lambda == string_view::npos) return std::nullopt;
  string_view type = name.substr(lambda + 3);
  const auto scalar = TakeMangledScalar(&type);
  return type.substr(0, 2) == "E_" ? scalar : std::nullopt;
}

// The function and the pointers of a copy have these sizes.
bool HasPointers(const std::vector<std::size_t>& bytes, std::size_t count) {
  return bytes.size() >= 3 && bytes[0] == 4 && bytes[2] == count * sizeof(void*);
}

}  // namespace

std::optional<Effect> MakeFill(string_view name, const std::vector<std::size_t>& parameter_bytes) {
  if (Strided::IsLoop(name, parameter_bytes, 1) && !Strided::HasCasts(name)) {
    string_view type = name.substr(name.find("FillFunctorI") + 12);
    const auto scalar = TakeMangledScalar(&type);
    if (!scalar) return std::nullopt;
    return Effect{[bytes = BytesOf(*scalar)](const ParameterView& launch) { return Count(launch) * bytes; },
                  [bytes = BytesOf(*scalar)](const ParameterView& launch, const EffectMemory& memory) {
                    return FillStrided(launch, bytes, memory);
                  }};
  }
  if (!IsContiguous(name) || HasCasts(name) || !HasPointers(parameter_bytes, 1)) return std::nullopt;
  const std::size_t bytes = parameter_bytes[1];  // the function holds nothing but the value
  return Effect{
      [=](const ParameterView& launch) { return Count(launch) * bytes; },
      [=](const ParameterView& launch, const EffectMemory& memory) { return Fill(launch, bytes, memory); }};
}

std::optional<Effect> MakeCopy(string_view name, const std::vector<std::size_t>& parameter_bytes) {
  const bool strided = Strided::IsLoop(name, parameter_bytes, 2);
  if (strided && Strided::HasCasts(name)) {
    return CopyBetween(true, [](const ParameterView& launch) {
      const Strided tensors(launch.parameters[1], 2);
      return Types{tensors.Type(1), tensors.Type(0)};
    });
  }
  if (!strided && (!IsContiguous(name) || !HasPointers(parameter_bytes, 2))) return std::nullopt;
  if (strided || !HasCasts(name)) {
    const auto type = TypeOfLambda(name);
    if (!type) return std::nullopt;
    return CopyBetween(strided, [type = *type](const ParameterView&) { return Types{type, type}; });
  }
  if (parameter_bytes.size() <= kStoreCast || parameter_bytes[kLoadCast] != sizeof(Cast) ||
      parameter_bytes[kStoreCast] != sizeof(Cast)) {
    return std::nullopt;
  }
  return CopyBetween(false, [](const ParameterView& launch) {
    return Types{launch.Get<Cast>(kLoadCast).type, launch.Get<Cast>(kStoreCast).type};
  });
}

std::optional<Effect> MakeConversion(string_view name, const std::vector<std::size_t>& parameter_bytes) {
  const bool strided = Strided::IsLoop(name, parameter_bytes, 2) && !Strided::HasCasts(name);
  const bool contiguous = IsContiguous(name) && !HasCasts(name) && HasPointers(parameter_bytes, 2);
  if (!strided && !contiguous) return std::nullopt;
  constexpr string_view kName = "converting_copy_kernel_cudaI";
  string_view types = name.substr(name.find(kName) + kName.size());
  const auto from = TakeMangledScalar(&types);
  const auto to = from ? TakeMangledScalar(&types) : std::nullopt;
  if (!to || types.substr(0, 1) != "E") return std::nullopt;
  return CopyBetween(strided, [from = *from, to = *to](const ParameterView&) { return Types{from, to}; });
}

}  // namespace simgpu::torch

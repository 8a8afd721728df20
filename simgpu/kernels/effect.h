// Says what the effect of a kernel is, of which only the name and the sizes of the parameters are known. Most
// kernels have none here. Those have one whose results decide what a program does next: fills, copies,
// conversions, the joining of tensors, and the scale of mixed precision. The names and parameters are those
// of PyTorch (torch.h says of which version). Pure, except for the memory to which the parameters point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace simgpu {

// An EffectMemory is what an effect may do to memory.
struct EffectMemory {
  // Returns whether all of the bytes are memory that the program allocated or registered.
  std::function<bool(const void* begin, std::uint64_t bytes)> known;
  // Writes zeros.
  std::function<void(void* begin, std::uint64_t bytes)> zero;
  // Copies and conversions move nothing if they have so many bytes or more.
  std::uint64_t hollow_from = UINT64_MAX;
};

// A ParameterView refers to the parameters of one launch and says how many blocks it has.
struct ParameterView {
  void* const* parameters = nullptr;
  unsigned grid[3] = {1, 1, 1};

  // Returns a copy of a parameter. REQUIRES: the launch has it, with the size of T.
  template <typename T>
  T Get(std::size_t index) const {
    T value;
    std::memcpy(&value, parameters[index], sizeof value);
    return value;
  }
};

// An Effect never changes once it is made, and any thread may run it.
struct Effect {
  // Returns how many bytes a launch reads and writes.
  std::function<std::uint64_t(const ParameterView& launch)> bytes;
  // Does what a launch does. Returns false, and changes nothing, if memory that it would touch is not known.
  std::function<bool(const ParameterView& launch, const EffectMemory& memory)> run;
};

// Returns the effect of the kernel with this name and these sizes of parameters, or no value if it has none.
std::optional<Effect> EffectOf(const std::string& name, const std::vector<std::size_t>& parameter_bytes);

}  // namespace simgpu

// Describes what a module image for one architecture holds, whatever form it came in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace simgpu::image {

// A Parameter is one parameter of a kernel: its place in the buffer of parameters and its size, in bytes.
struct Parameter {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
  bool operator==(const Parameter&) const = default;
};

struct KernelImage {
  std::string name;                   // as the linker knows it: mangled, unless it is extern "C"
  std::vector<Parameter> parameters;  // in the order of their offsets
  std::uint32_t shared_bytes = 0;     // static shared memory of a block
  int registers = 0;                  // of a thread; 0 if the image does not say
  int most_threads = 0;               // of a block, by __launch_bounds__; 0 if the image does not say
};

// A GlobalImage is a variable in device or constant memory.
struct GlobalImage {
  std::string name;
  std::uint64_t bytes = 0;
  std::vector<std::uint8_t> initial;  // its first content, at most `bytes` long; zeros follow
};

struct Image {
  int architecture = 0;  // 90 for sm_90 or compute_90
  std::vector<KernelImage> kernels;
  std::vector<GlobalImage> globals;
};

}  // namespace simgpu::image

// Makes the text that the packed seeds of fuzz_unpack.cc hold: `zstd -19 --no-check` and others packed it.
#pragma once

#include <cstddef>
#include <string>

namespace simgpu::image {

// Returns the first `bytes` bytes of the text.
inline std::string Story(std::size_t bytes) {
  constexpr const char* kNames[] = {"gemm", "softmax", "layer_norm", "fill", "all_reduce"};
  std::string text;
  for (unsigned i = 0; text.size() < bytes; ++i) {
    text += "step " + std::to_string(i * 7919 % 1009) + ": " + kNames[i % 7 % 5] + " takes " +
            std::to_string(i * i % 97) + " us\n";
  }
  text.resize(bytes);
  return text;
}

}  // namespace simgpu::image

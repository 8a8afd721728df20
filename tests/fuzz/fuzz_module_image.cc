// libs: simgpu_cuda_core
// Any text handed over as a module image is refused with a line of explanation, or read.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "simgpu/cuda/module_image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string error;
  const auto image = simgpu::ParseModuleImage(text, &error);
  // Without the magic line half of the inputs would never get past the first line.
  const auto headed = simgpu::ParseModuleImage(std::string(simgpu::kImageMagic) + "\n" + text, &error);
  if (!image && error.empty()) std::abort();
  if (headed) {
    for (const auto& kernel : headed->kernels) {
      if (kernel.ns_is_argument && kernel.argument_bytes.at(0) != 8) std::abort();
      if (kernel.spin && kernel.argument_bytes.at(1) != 4) std::abort();
    }
  }
  return 0;
}

// libs: simgpu_machine
// Any text read as a machine is refused with a line of explanation, or is a machine within its limits.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "simgpu/machine/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string error;
  for (const auto& config :
       {simgpu::ParseMachineYaml(text, &error), simgpu::ParseMachineShape(text, &error)}) {
    if (!config) {
      if (error.empty()) std::abort();
      continue;
    }
    if (config->nodes.empty() || config->nodes.size() > simgpu::kMaxNodes) std::abort();
    simgpu::Digest(*config);
  }
  return 0;
}

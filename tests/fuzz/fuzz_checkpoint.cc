// libs: crossover::pods
// A kubelet's checkpoint file.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "deviceplugin/pods/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto entries = crossover::deviceplugin::ParseCheckpoint(text, "crossover.dev/slot");
  if (!entries) return 0;
  for (const auto& entry : *entries) {
    if (!std::is_sorted(entry.ids.begin(), entry.ids.end())) std::abort();
  }
  return 0;
}

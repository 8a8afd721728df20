// libs: crossover::pods
// Parses a kubelet's checkpoint file.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "deviceplugin/pods/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto checkpoint = crossover::deviceplugin::ParseCheckpoint(text, "crossover.dev/slot");
  if (!checkpoint) return 0;
  for (const auto& entry : checkpoint->handed_out) {
    if (!std::is_sorted(entry.ids.begin(), entry.ids.end())) std::abort();
  }
  return 0;
}

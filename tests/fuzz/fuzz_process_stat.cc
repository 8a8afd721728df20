// libs: crossover::signals
// Parses the text of /proc/PID/stat, in which a process names itself as it likes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "deviceplugin/signals/host_usage.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto usage = crossover::signals::ParseStat(text, 100, 4096);
  if (usage && (usage->cpu_seconds < 0 || text.find(')') == std::string_view::npos)) std::abort();
  return 0;
}

// libs: crossover::pods
// Parses a process's control groups, whose folders a pod names as it likes.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "deviceplugin/pods/cgroup.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto uid = crossover::deviceplugin::PodUidOf(text, "node");
  if (uid && uid->size() != 36 && uid->size() != 32) std::abort();
  return 0;
}

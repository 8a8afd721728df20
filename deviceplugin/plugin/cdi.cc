#include "deviceplugin/plugin/cdi.h"

#include <charconv>
#include <utility>

namespace crossover::deviceplugin {
namespace {

constexpr std::string_view kContainerd = "containerd://";
constexpr std::pair<int, int> kFirstWithCdi = {1, 7};

// Reads major and minor version from text such as "1.6.20~ds1". Returns false if the text does not start
// with them.
bool ReadVersion(std::string_view text, std::pair<int, int>* version) {
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version->first);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return false;
  return std::from_chars(major.ptr + 1, end, version->second).ec == std::errc();
}

}  // namespace

std::string WhyNoCdi(std::string_view runtime) {
  if (!runtime.starts_with(kContainerd)) return "";
  runtime.remove_prefix(kContainerd.size());
  std::pair<int, int> version;
  if (!ReadVersion(runtime, &version) || version >= kFirstWithCdi) return "";
  return "containerd " + std::string(runtime) +
         " gives containers no CDI devices: set node.devices to device-nodes with a driver_root, or to "
         "environment, or upgrade containerd to 2";
}

}  // namespace crossover::deviceplugin

#include "deviceplugin/plugin/device_id.h"

#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::string_view kSeparator = "::";

}  // namespace

std::string Text(const DeviceId& id) { return id.gpu + std::string(kSeparator) + std::to_string(id.slot); }

std::optional<DeviceId> ParseDeviceId(std::string_view text) {
  const std::size_t separator = text.find(kSeparator);
  if (separator == std::string_view::npos) return std::nullopt;
  const std::string_view gpu = text.substr(0, separator);
  const std::string_view number = text.substr(separator + kSeparator.size());
  const auto slot = ParseInteger(number, 0, kMostSlotsPerGpu - 1);
  if (!slot || !arbiter::ValidGpuUuid(gpu)) return std::nullopt;
  DeviceId id{.gpu = std::string(gpu), .slot = static_cast<std::uint32_t>(*slot)};
  if (Text(id) != text) return std::nullopt;  // the number has leading zeros
  return id;
}

}  // namespace crossover::deviceplugin

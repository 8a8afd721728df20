// What a kubelet knows a slot by: "GPU-<uuid>::<number>". The ID names a physical GPU for ever, so that
// whatever reads it (other tools strip "::<number>") finds the right one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace crossover::deviceplugin {

inline constexpr std::uint32_t kMostSlotsPerGpu = 100;

struct DeviceId {
  std::string gpu;  // its UUID
  std::uint32_t slot = 0;

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

std::string Text(const DeviceId& id);

// Nothing for text that Text() does not give.
std::optional<DeviceId> ParseDeviceId(std::string_view text);

}  // namespace crossover::deviceplugin

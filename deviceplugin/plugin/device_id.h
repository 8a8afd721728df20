// Defines the device ID by which the kubelet knows a slot: "GPU-<uuid>::<number>". The ID always refers to
// the same physical GPU, so that every reader finds the right one; other tools strip the "::<number>".
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace crossover::deviceplugin {

inline constexpr std::uint32_t kMostSlotsPerGpu = 100;

struct DeviceId {
  std::string gpu;  // UUID of the GPU
  std::uint32_t slot = 0;

  friend bool operator==(const DeviceId&, const DeviceId&) = default;
};

// Returns the text of the ID, as the kubelet knows it.
std::string Text(const DeviceId& id);

// Parses the text of an ID. Returns nullopt for any text that Text() does not produce.
std::optional<DeviceId> ParseDeviceId(std::string_view text);

}  // namespace crossover::deviceplugin

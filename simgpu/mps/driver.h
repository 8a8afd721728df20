// Says in what the control daemons of NVIDIA's drivers differ, as far as the stand-in follows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace simgpu::mps {

inline constexpr char kDriverVariable[] = "SIMGPU_MPS_DRIVER";

// A Driver is the major version of a driver whose control daemon the stand-in acts as.
enum class Driver : std::uint8_t { k535, k550, k555, k580 };

// Returns the driver that `text` names, or nothing if it names none.
constexpr std::optional<Driver> ReadDriver(std::string_view text) {
  if (text == "535") return Driver::k535;
  if (text == "550") return Driver::k550;
  if (text == "555") return Driver::k555;
  if (text == "580") return Driver::k580;
  return std::nullopt;
}

// Returns whether the daemon writes the number of its process into its directory.
constexpr bool HasPidFile(Driver driver) { return driver >= Driver::k550; }
// Returns whether the daemon knows get_server_status.
constexpr bool TellsStatus(Driver driver) { return driver >= Driver::k550; }
// Returns whether only root and the daemon's own user may change the settings of the daemon.
constexpr bool GuardsSettings(Driver driver) { return driver >= Driver::k550; }
// Returns whether the program knows -multiuser-server, and refuses options that it does not know. An older
// one takes a command line that it does not know for one without options, and sends commands.
constexpr bool RefusesOptions(Driver driver) { return driver >= Driver::k555; }
// Returns whether the program takes -M too, and a protocol from the environment. NVIDIA's pages say so; none
// of these programs was tried.
constexpr bool HeedsProtocol(Driver driver) { return driver >= Driver::k580; }

}  // namespace simgpu::mps

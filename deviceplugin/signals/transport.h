// Names how clients of a node learn when to look at their gates.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace crossover::signals {

enum class Transport : std::uint8_t {
  kHost,  // clients poll their gates in host memory
  kIpc,   // clients that can wait for signals in device memory do so, if there is a signaller
  // As kHost, until a measurement that comes with a release says for a GPU model that signals are better.
  kAuto
};

inline constexpr std::string_view kTransportAllowed = "host, ipc or auto";

constexpr std::optional<Transport> ParseTransport(std::string_view text) {
  if (text == "host") return Transport::kHost;
  if (text == "ipc") return Transport::kIpc;
  if (text == "auto") return Transport::kAuto;
  return std::nullopt;
}

// Returns whether the arbiter serves signallers. No release has a measurement yet.
constexpr bool OffersSignals(Transport transport) { return transport == Transport::kIpc; }

}  // namespace crossover::signals

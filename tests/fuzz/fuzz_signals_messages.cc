// libs: crossover_signals
// Parses any bytes as a message of a client or of a signaller to the arbiter. What is accepted is within its
// bounds and makes the same message again, and a reason is one printable line.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/signals/signal_messages.h"
#include "deviceplugin/signals/wire.h"
#include "tests/fuzz/require.h"
#include "turn/signal_memory.h"

namespace {

using crossover::fuzz::Require;
namespace signals = crossover::signals;

void RequirePrintable(const std::string& text) {
  for (const char c : text) Require(c >= ' ' && c <= '~');
}

void CheckPeer(std::span<const std::byte> bytes) {
  const signals::PeerMessage message = signals::ParsePeer(bytes);
  if (const auto* hello = std::get_if<signals::SignallerHello>(&message)) {
    Require(crossover::arbiter::ValidGpuUuid(hello->gpu_uuid));
  } else if (const auto* prove = std::get_if<signals::Prove>(&message)) {
    const crossover_proof wire = signals::MakeProve(0, 0, *prove);
    const signals::PeerMessage again = signals::ParsePeer(std::as_bytes(std::span(&wire, 1)));
    Require(std::holds_alternative<signals::Prove>(again));
    Require(std::get<signals::Prove>(again).number == prove->number && prove->number != 0);
  } else if (const auto* broken = std::get_if<signals::Broken>(&message)) {
    Require(!broken->reason.empty());
    RequirePrintable(broken->reason);
  }
}

void CheckSignaller(std::span<const std::byte> bytes, std::size_t descriptors) {
  const signals::SignallerMessage message = signals::ParseSignaller(bytes, descriptors);
  if (const auto* made = std::get_if<signals::Signals>(&message)) {
    Require(descriptors == 1 && made->area >= 1 && made->area <= crossover::turn::AreasOf(made->bytes));
  } else if (const auto* refused = std::get_if<signals::Refused>(&message)) {
    RequirePrintable(refused->reason);
  } else if (const auto* broken = std::get_if<signals::Broken>(&message)) {
    Require(!broken->reason.empty());
    RequirePrintable(broken->reason);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  CheckPeer(bytes);
  CheckSignaller(bytes, data[0] % 4);
  return 0;
}

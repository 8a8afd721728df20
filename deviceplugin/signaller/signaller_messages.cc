#include "deviceplugin/signaller/signaller_messages.h"

#include <optional>

#include "deviceplugin/signals/wire.h"
#include "turn/signal_memory.h"

namespace crossover::signaller {
namespace {

using signals::Copy;
using signals::HeaderOf;
using signals::Wrong;

Message ParseFollow(std::span<const std::byte> bytes, std::size_t descriptors, std::size_t memory_bytes) {
  std::string error;
  const auto wire = Copy<crossover_follow>(bytes, "follow", &error);
  if (!wire) return Broken{error};
  if (wire->kept > 1) return Broken{Wrong("follow: kept", "0 or 1", wire->kept)};
  const std::size_t expected = 1 + wire->kept;
  if (descriptors != expected)
    return Broken{Wrong("follow: descriptors", std::to_string(expected), descriptors)};
  const std::uint32_t areas = turn::AreasOf(memory_bytes);
  if (wire->area > areas) return Broken{Wrong("follow: area", "0 to " + std::to_string(areas), wire->area)};
  if (wire->kept == 0 && wire->area != 0)
    return Broken{Wrong("follow: area", "0 without kept memory", wire->area)};
  return Follow{wire->kept == 1, wire->area};
}

Message ParseProve(std::span<const std::byte> bytes, std::size_t memory_bytes) {
  std::string error;
  const auto wire = Copy<crossover_proof>(bytes, "prove", &error);
  if (!wire) return Broken{error};
  const std::uint32_t areas = memory_bytes == SIZE_MAX ? 0 : turn::AreasOf(memory_bytes);
  if (wire->area == 0 || wire->area > areas)
    return Broken{Wrong("prove: area", "1 to " + std::to_string(areas), wire->area)};
  if (wire->line >= CROSSOVER_MAX_CLIENTS)
    return Broken{Wrong("prove: line", "0 to " + std::to_string(CROSSOVER_MAX_CLIENTS - 1), wire->line)};
  return Prove{wire->client, wire->area, wire->line, wire->number};
}

Message ParseRest(std::span<const std::byte> bytes) {
  std::string error;
  const auto wire = Copy<crossover_rest>(bytes, "rest", &error);
  if (!wire) return Broken{error};
  if (wire->rest > 1) return Broken{Wrong("rest: rest", "0 or 1", wire->rest)};
  return Rest{wire->rest == 1};
}

Message ParseRefused(std::span<const std::byte> bytes) {
  std::string error;
  const auto wire = Copy<crossover_refused>(bytes, "refused", &error);
  if (!wire) return Broken{error};
  return Refused{signals::ReasonIn(*wire)};
}

}  // namespace

Message Parse(std::span<const std::byte> bytes, std::size_t descriptors, std::size_t memory_bytes) {
  std::string error;
  const auto header = signals::HeaderIn(bytes, &error);
  if (!header) return Broken{error};
  if (header->type == CROSSOVER_FOLLOW) return ParseFollow(bytes, descriptors, memory_bytes);
  if (header->type == CROSSOVER_PROVE) return ParseProve(bytes, memory_bytes);
  if (header->type == CROSSOVER_REST) return ParseRest(bytes);
  if (header->type == CROSSOVER_REFUSED) return ParseRefused(bytes);
  return Unknown{};
}

crossover_signaller_hello MakeHello(std::string_view gpu_uuid, bool rests) {
  crossover_signaller_hello wire{};
  wire.header = HeaderOf<crossover_signaller_hello>(CROSSOVER_SIGNALLER_HELLO);
  gpu_uuid.copy(wire.gpu_uuid, sizeof wire.gpu_uuid - 1);
  wire.signal_version = CROSSOVER_SIGNAL_VERSION;
  wire.rests = rests ? 1 : 0;
  return wire;
}

crossover_signals MakeSignals(std::uint32_t area, std::size_t memory_bytes) {
  crossover_signals wire{};
  wire.header = HeaderOf<crossover_signals>(CROSSOVER_SIGNALS);
  wire.area = area;
  wire.bytes = static_cast<std::uint32_t>(memory_bytes);
  return wire;
}

crossover_proof MakeProven(const Prove& prove, bool written) {
  return {HeaderOf<crossover_proof>(CROSSOVER_PROVEN),
          prove.client,
          prove.area,
          prove.line,
          prove.number,
          written ? 1u : 0u};
}

}  // namespace crossover::signaller

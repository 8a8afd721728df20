#include "deviceplugin/signaller/messages.h"

#include <algorithm>
#include <cstring>

#include "common/base/refusal.h"

namespace crossover::signaller {
namespace {

crossover_header HeaderOf(std::uint32_t type, std::size_t bytes) {
  return {type, static_cast<std::uint32_t>(bytes), CROSSOVER_PROTOCOL_VERSION, 0};
}

Broken Wrong(std::string_view key, std::string_view expected, std::uint64_t got) {
  return {base::Refusal(key, expected, std::to_string(got))};
}

// Copies a wire structure out of `bytes`, which may not be aligned. REQUIRES: it is in there.
template <class Wire>
Wire Take(std::span<const std::byte> bytes) {
  Wire wire;
  std::memcpy(&wire, bytes.data(), sizeof wire);
  return wire;
}

Message ParseFollow(std::span<const std::byte> bytes, std::size_t descriptors, std::size_t memory_bytes) {
  if (bytes.size() != sizeof(crossover_follow)) {
    return Wrong("follow: size", std::to_string(sizeof(crossover_follow)), bytes.size());
  }
  const auto wire = Take<crossover_follow>(bytes);
  if (wire.kept > 1) return Wrong("follow: kept", "0 or 1", wire.kept);
  const std::size_t expected = 1 + wire.kept;
  if (descriptors != expected) return Wrong("follow: descriptors", std::to_string(expected), descriptors);
  const std::uint32_t areas = AreasOf(memory_bytes);
  if (wire.area > areas) return Wrong("follow: area", "0 to " + std::to_string(areas), wire.area);
  if (wire.kept == 0 && wire.area != 0) return Wrong("follow: area", "0 without kept memory", wire.area);
  return Follow{wire.kept == 1, wire.area};
}

Message ParseRefused(std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(crossover_refused)) {
    return Wrong("refused: size", std::to_string(sizeof(crossover_refused)), bytes.size());
  }
  const auto wire = Take<crossover_refused>(bytes);
  std::string reason(wire.reason, ::strnlen(wire.reason, sizeof wire.reason));
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return Refused{std::move(reason)};
}

}  // namespace

Message Parse(std::span<const std::byte> bytes, std::size_t descriptors, std::size_t memory_bytes) {
  if (bytes.size() < sizeof(crossover_header)) {
    return Wrong("message: size", "at least " + std::to_string(sizeof(crossover_header)), bytes.size());
  }
  const auto header = Take<crossover_header>(bytes);
  if (header.bytes != bytes.size()) {
    return Wrong("message: size in the header", std::to_string(bytes.size()), header.bytes);
  }
  if (header.version != CROSSOVER_PROTOCOL_VERSION) {
    return Wrong("message: version", std::to_string(CROSSOVER_PROTOCOL_VERSION), header.version);
  }
  if (header.type == CROSSOVER_FOLLOW) return ParseFollow(bytes, descriptors, memory_bytes);
  if (header.type == CROSSOVER_REFUSED) return ParseRefused(bytes);
  return Unknown{};
}

crossover_signaller_hello MakeHello(std::string_view gpu_uuid) {
  crossover_signaller_hello wire{};
  wire.header = HeaderOf(CROSSOVER_SIGNALLER_HELLO, sizeof wire);
  gpu_uuid.copy(wire.gpu_uuid, sizeof wire.gpu_uuid - 1);
  wire.signal_version = CROSSOVER_SIGNAL_VERSION;
  return wire;
}

crossover_signals MakeSignals(std::uint32_t area, std::size_t memory_bytes) {
  crossover_signals wire{};
  wire.header = HeaderOf(CROSSOVER_SIGNALS, sizeof wire);
  wire.area = area;
  wire.bytes = static_cast<std::uint32_t>(memory_bytes);
  return wire;
}

}  // namespace crossover::signaller

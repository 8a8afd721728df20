// Helps both ends of a socket to read and make the messages of proto/signaller_protocol.h. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/base/refusal.h"
#include "proto/signaller_protocol.h"

namespace crossover::signals {

template <class Wire>
crossover_header HeaderOf(std::uint32_t type) {
  return {type, static_cast<std::uint32_t>(sizeof(Wire)), CROSSOVER_PROTOCOL_VERSION, 0};
}

// Returns the refusal of a number.
inline std::string Wrong(std::string_view key, std::string_view expected, std::uint64_t got) {
  return base::Refusal(key, expected, std::to_string(got));
}

// Copies a wire structure out of `bytes`, which may not be aligned. Returns nothing, with the reason in
// `error`, if they have another size than the message `name`.
template <class Wire>
std::optional<Wire> Copy(std::span<const std::byte> bytes, std::string_view name, std::string* error) {
  if (bytes.size() != sizeof(Wire)) {
    *error = Wrong(std::string(name) + ": size", std::to_string(sizeof(Wire)), bytes.size());
    return std::nullopt;
  }
  Wire wire;
  std::memcpy(&wire, bytes.data(), sizeof wire);
  return wire;
}

// Returns the header of the message in `bytes`. Returns nothing, with the reason in `error`, if the header is
// not that of the whole message, or has another version.
inline std::optional<crossover_header> HeaderIn(std::span<const std::byte> bytes, std::string* error) {
  if (bytes.size() < sizeof(crossover_header)) {
    *error = Wrong("message: size", "at least " + std::to_string(sizeof(crossover_header)), bytes.size());
    return std::nullopt;
  }
  crossover_header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.bytes != bytes.size()) {
    *error = Wrong("message: size in the header", std::to_string(bytes.size()), header.bytes);
    return std::nullopt;
  }
  if (header.version != CROSSOVER_PROTOCOL_VERSION) {
    *error = Wrong("message: version", std::to_string(CROSSOVER_PROTOCOL_VERSION), header.version);
    return std::nullopt;
  }
  return header;
}

// Returns the reason of a refusal, with a question mark for each character that is not printable.
inline std::string ReasonIn(const crossover_refused& wire) {
  std::string reason(wire.reason, ::strnlen(wire.reason, sizeof wire.reason));
  std::replace_if(
      reason.begin(), reason.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return reason;
}

}  // namespace crossover::signals

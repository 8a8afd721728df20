// Parses what an arbiter sends to a signaller, and makes the answers. Pure: takes bytes, returns values or a
// reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "proto/signaller_protocol.h"

namespace crossover::signaller {

// No message that a signaller reads is longer.
inline constexpr std::size_t kLongestMessage = sizeof(crossover_refused);

struct Follow {
  bool kept = false;       // the second descriptor is the memory that the arbiter has kept
  std::uint32_t area = 0;  // 0: the signaller chooses one
};
struct Refused {
  std::string reason;  // printable
};
struct Unknown {};  // a message of another type; it is skipped
struct Broken {     // an invalid message; it ends the connection
  std::string reason;
};
using Message = std::variant<Follow, Refused, Unknown, Broken>;

// Returns the message in `bytes`, which came with `descriptors` descriptors. Memory of `memory_bytes` bounds
// the area of a Follow. REQUIRES: `bytes` is one whole message.
Message Parse(std::span<const std::byte> bytes, std::size_t descriptors, std::size_t memory_bytes);

// Returns how many areas memory of so many bytes has, without area 0.
constexpr std::uint32_t AreasOf(std::size_t memory_bytes) {
  const std::size_t areas = memory_bytes / CROSSOVER_SIGNAL_AREA_BYTES;
  return areas == 0 ? 0 : static_cast<std::uint32_t>(areas - 1);
}

// These return the message in wire format. arbiter::MakeRefused() makes a Refused.
crossover_signaller_hello MakeHello(std::string_view gpu_uuid);
crossover_signals MakeSignals(std::uint32_t area, std::size_t memory_bytes);

}  // namespace crossover::signaller

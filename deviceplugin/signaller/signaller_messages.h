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
// A client asks that `number` is written into its line.
struct Prove {
  std::uint64_t client = 0;
  std::uint32_t area = 0;
  std::uint32_t line = 0;
  std::uint32_t number = 0;
};
struct Rest {
  bool rest = false;  // the signaller must release the GPU; otherwise it may use the GPU
};
struct Refused {
  std::string reason;  // printable
};
struct Unknown {};  // a message of another type; it is skipped
struct Broken {     // an invalid message; it ends the connection
  std::string reason;
};
using Message = std::variant<Follow, Prove, Rest, Refused, Unknown, Broken>;

// Returns the message in `bytes`, which came with `descriptors` descriptors. Memory of `memory_bytes` bounds
// the area of a Follow or a Prove; SIZE_MAX says that there is none yet. REQUIRES: `bytes` is one whole
// message.
Message Parse(std::span<const std::byte> bytes, std::size_t descriptors, std::size_t memory_bytes);

// These functions return the message in wire format. arbiter::MakeRefused() makes a Refused.
crossover_signaller_hello MakeHello(std::string_view gpu_uuid, bool rests);
crossover_signals MakeSignals(std::uint32_t area, std::size_t memory_bytes);
crossover_proof MakeProven(const Prove& prove, bool written);

}  // namespace crossover::signaller

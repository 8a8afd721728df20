// What clients say over the socket, checked. Pure: bytes in, values or a reason out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "proto/arbiter_protocol.h"

namespace crossover::arbiter {

// The longest message a client may send.
inline constexpr std::size_t kLongestMessage = sizeof(crossover_hello);

struct Hello {
  std::string gang;
  std::string gpu_uuid;
  std::uint32_t gang_size = 0;
  std::uint32_t rank = 0;
  std::uint32_t pid = 0;  // as the client says; never trusted
  std::uint32_t transport = CROSSOVER_TRANSPORT_NONE;
  std::uint32_t priority = CROSSOVER_PRIORITY_NORMAL;
  std::uint32_t max_slowdown = 0;  // thousandths; 0: none
  // Never of the wire: filled in where it is known who the client is.
  std::string name_space;
  std::string pod;
  std::string pod_uid;
};

struct Profile {
  std::uint64_t iterations = 0;
  std::uint64_t turns = 0;
  std::uint64_t launches = 0;
  std::uint32_t period_tokens = 0;
  std::uint32_t turns_per_period = 0;
  std::uint32_t transport = CROSSOVER_TRANSPORT_NONE;
};

struct Unknown {};  // a type of a later version: skipped

struct Broken {  // ends the connection
  std::string reason;
};

using Message = std::variant<Hello, Profile, Unknown, Broken>;

Message Parse(std::span<const std::byte> bytes);

// Names that may become a metric label or a line of the log: printable, no spaces, 1 to 127 characters.
bool ValidGangName(std::string_view name);
// "GPU-" and a lower-case UUID.
bool ValidGpuUuid(std::string_view uuid);

crossover_welcome MakeWelcome(std::uint32_t slot);
// Cuts a reason that is too long.
crossover_refused MakeRefused(std::string_view reason);
crossover_notice MakeNotice(std::string_view text);  // likewise

}  // namespace crossover::arbiter

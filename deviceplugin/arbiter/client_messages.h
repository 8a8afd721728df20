// Parses and checks the messages of clients. Pure: takes bytes, returns values or a reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "proto/arbiter_protocol.h"

namespace crossover::arbiter {

// No valid message of a client is longer.
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
  // The next fields never come from the client. An IdentitySource fills them in if it knows the client's pod.
  std::string name_space;
  std::string pod;
  std::string pod_uid;
  std::uint32_t memory_mib = 0;  // on each GPU; 0: no limit is known
};

struct Profile {
  std::uint64_t iterations = 0;
  std::uint64_t turns = 0;
  std::uint64_t launches = 0;
  std::uint32_t period_tokens = 0;
  std::uint32_t turns_per_period = 0;
  std::uint32_t transport = CROSSOVER_TRANSPORT_NONE;
  std::uint32_t input_wait = 0;  // as crossover_profile has it
};

// A Calls is one message of a report of what a process calls in an iteration. All is checked but what only
// the other messages of the report tell.
struct Calls {
  std::uint32_t first = 0;
  std::uint32_t total = 0;
  std::vector<crossover_call> calls;
};

// A Reductions says which reductions of a process are compressed, and why others are not. It has the fields
// of crossover_reductions, and any level and reason: a newer library may know more of them.
using Reductions = crossover_reductions;

struct Ask {};  // the question for the process's memory limit; only without a hello

struct Unknown {  // a message of a later version, which is skipped, or for an Extension
  std::vector<std::byte> bytes;
};

struct Broken {  // an invalid message; it ends the connection
  std::string reason;
};

using Message = std::variant<Hello, Profile, Calls, Reductions, Ask, Unknown, Broken>;

// Returns the message in `bytes`, or Broken with a reason if it is invalid. REQUIRES: `bytes` is one whole
// message.
Message Parse(std::span<const std::byte> bytes);

// Returns whether `name` may become a metric label or part of a log line: 1 to 127 printable ASCII characters
// without spaces.
bool ValidGangName(std::string_view name);
// Returns whether `uuid` is "GPU-" and a lower-case UUID.
bool ValidGpuUuid(std::string_view uuid);

// These functions return the message in wire format. In MakeLimit(), nothing means that the limit is not
// known yet. MakeRefused() and MakeNotice() cut a text that is too long for its field.
crossover_welcome MakeWelcome(std::uint32_t slot, std::uint32_t memory_mib);
crossover_limit MakeLimit(std::optional<std::uint32_t> memory_mib);
crossover_refused MakeRefused(std::string_view reason);
crossover_notice MakeNotice(std::string_view text);

}  // namespace crossover::arbiter

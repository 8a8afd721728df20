#include "deviceplugin/arbiter/client_messages.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "common/base/job_environment.h"
#include "common/base/refusal.h"

namespace crossover::arbiter {
namespace {

template <class Wire>
crossover_header HeaderOf(std::uint32_t type) {
  return {.type = type, .bytes = sizeof(Wire), .version = CROSSOVER_PROTOCOL_VERSION, .reserved = 0};
}

// Returns the text of a field of fixed size, or nothing if the text does not end inside the field.
template <std::size_t kSize>
std::optional<std::string> Text(const char (&field)[kSize]) {
  const void* end = std::memchr(field, 0, kSize);
  if (end == nullptr) return std::nullopt;
  return std::string(field, static_cast<const char*>(end));
}

template <std::size_t kSize>
void CopyCut(std::string_view text, char (&field)[kSize]) {
  std::memcpy(field, text.data(), std::min(text.size(), kSize - 1));
}

template <class Wire>
std::optional<Wire> Copy(std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(Wire)) return std::nullopt;
  Wire wire;
  std::memcpy(&wire, bytes.data(), sizeof(wire));
  return wire;
}

constexpr std::string_view kTransports = "0 to 4";
bool ValidTransport(std::uint32_t transport) { return transport <= CROSSOVER_TRANSPORT_SIGNALLED_GATES; }

Broken Refused(std::string_view field, std::string_view expected, std::string_view got) {
  return Broken{base::Refusal(field, expected, got)};
}

Broken Refused(std::string_view field, std::string_view expected, std::uint32_t got) {
  return Refused(field, expected, std::to_string(got));
}

Broken WrongSize(const std::string& what, std::size_t expected, std::span<const std::byte> got) {
  return Refused(what + ": size", std::to_string(expected), std::to_string(got.size()));
}

// Returns a text from the peer as a refusal prints it. `text` is empty if it does not end inside its field.
std::string Printed(const std::optional<std::string>& text) {
  return text ? base::Shown(*text) : "a text without an end";
}

Message ParseHello(const crossover_hello& wire) {
  const auto gang = Text(wire.gang);
  const auto uuid = Text(wire.gpu_uuid);
  if (!gang || (!gang->empty() && !ValidGangName(*gang))) {
    return Refused("gang", "at most 127 printable ASCII characters without spaces", Printed(gang));
  }
  if (!uuid || !ValidGpuUuid(*uuid))
    return Refused("gpu_uuid", "\"GPU-\" and a lower-case UUID", Printed(uuid));
  if (wire.gang_size != 0 && wire.rank >= wire.gang_size)
    return Refused("rank", "less than gang_size (" + std::to_string(wire.gang_size) + ")", wire.rank);
  if (!ValidTransport(wire.transport)) return Refused("transport", kTransports, wire.transport);
  if (wire.priority > CROSSOVER_PRIORITY_HIGH) return Refused("priority", "0 to 2", wire.priority);
  if (wire.max_slowdown != 0 && !base::AllowedSlowdown(wire.max_slowdown))
    return Refused("max_slowdown", "0, or 1050 to 10000 thousandths", wire.max_slowdown);
  return Hello{
      *gang, *uuid, wire.gang_size, wire.rank, wire.pid, wire.transport, wire.priority, wire.max_slowdown, {},
      {},    {}};
}

Message ParseProfile(const crossover_profile& wire) {
  if (!ValidTransport(wire.transport)) return Refused("transport", kTransports, wire.transport);
  return Profile{wire.iterations,       wire.turns,     wire.launches,  wire.period_tokens,
                 wire.turns_per_period, wire.transport, wire.input_wait};
}

// Returns what is wrong with a call, or an empty string.
std::string FaultOf(const crossover_call& call) {
  const auto refused = [](std::string_view field, std::string_view expected, std::uint64_t got) {
    return base::Refusal(field, expected, std::to_string(got));
  };
  const std::string below =
      "a rank below the communicator's number of ranks (" + std::to_string(call.ranks) + ")";
  if (call.communicator == 0) return refused("communicator", "a number other than 0", 0);
  if (call.ranks < 2 || call.ranks > base::kMostRanks)
    return refused("ranks", "2 to " + std::to_string(base::kMostRanks), call.ranks);
  if (call.rank >= call.ranks) return refused("rank", below, call.rank);
  if (call.function < CROSSOVER_ALL_REDUCE || call.function > CROSSOVER_SCATTER)
    return refused("function", "1 to 10", call.function);
  if (call.peer != CROSSOVER_NO_PEER && call.peer >= call.ranks) return refused("peer", below, call.peer);
  return "";
}

Message ParseCalls(const crossover_calls& wire) {
  if (wire.total > CROSSOVER_CALLS_MAX)
    return Refused("total", "at most " + std::to_string(CROSSOVER_CALLS_MAX), wire.total);
  if (wire.count < 1 || wire.count > CROSSOVER_CALLS_OF_MESSAGE)
    return Refused("count", "1 to " + std::to_string(CROSSOVER_CALLS_OF_MESSAGE), wire.count);
  if (wire.first >= wire.total || wire.count > wire.total - wire.first)
    return Refused("first", "calls within the total (" + std::to_string(wire.total) + ")", wire.first);
  Calls message{wire.first, wire.total, {}};
  for (std::uint32_t i = 0; i < wire.count; ++i) {
    std::string fault = FaultOf(wire.call[i]);
    if (!fault.empty()) return Broken{std::move(fault)};
    message.calls.push_back(wire.call[i]);
  }
  return message;
}

}  // namespace

bool ValidGangName(std::string_view name) {
  return !name.empty() && name.size() < CROSSOVER_GANG_NAME_MAX &&
         std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

bool ValidGpuUuid(std::string_view uuid) {
  constexpr std::string_view kShape = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  const auto matches = [](char shape, char c) {
    return shape == 'x' ? (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') : c == shape;
  };
  return std::equal(kShape.begin(), kShape.end(), uuid.begin(), uuid.end(), matches);
}

Message Parse(std::span<const std::byte> bytes) {
  crossover_header header;
  if (bytes.size() < sizeof(header))
    return Refused("message: size", "at least " + std::to_string(sizeof(header)),
                   std::to_string(bytes.size()));
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.version != CROSSOVER_PROTOCOL_VERSION) {
    return Refused("protocol version", std::to_string(CROSSOVER_PROTOCOL_VERSION), header.version);
  }
  if (header.bytes != bytes.size())
    return Refused("message: size in its header", std::to_string(bytes.size()), header.bytes);
  if (header.type == CROSSOVER_HELLO) {
    const auto wire = Copy<crossover_hello>(bytes);
    return wire ? ParseHello(*wire) : WrongSize("hello", sizeof(crossover_hello), bytes);
  }
  if (header.type == CROSSOVER_PROFILE) {
    const auto wire = Copy<crossover_profile>(bytes);
    return wire ? ParseProfile(*wire) : WrongSize("profile", sizeof(crossover_profile), bytes);
  }
  if (header.type == CROSSOVER_CALLS) {
    const auto wire = Copy<crossover_calls>(bytes);
    return wire ? ParseCalls(*wire) : WrongSize("calls", sizeof(crossover_calls), bytes);
  }
  if (header.type == CROSSOVER_REDUCTIONS) {
    const auto wire = Copy<crossover_reductions>(bytes);
    return wire ? Message(*wire) : WrongSize("reductions", sizeof(crossover_reductions), bytes);
  }
  if (header.type == CROSSOVER_ASK) {
    if (bytes.size() != sizeof header) return WrongSize("ask", sizeof header, bytes);
    return Ask{};
  }
  return Unknown{{bytes.begin(), bytes.end()}};
}

crossover_welcome MakeWelcome(std::uint32_t slot, std::uint32_t memory_mib) {
  return {.header = HeaderOf<crossover_welcome>(CROSSOVER_WELCOME), .slot = slot, .memory_mib = memory_mib};
}

crossover_limit MakeLimit(std::optional<std::uint32_t> memory_mib) {
  return {.header = HeaderOf<crossover_limit>(CROSSOVER_LIMIT),
          .memory_mib = memory_mib.value_or(0),
          .known = memory_mib ? 1u : 0u};
}

crossover_refused MakeRefused(std::string_view reason) {
  crossover_refused wire{};
  wire.header = HeaderOf<crossover_refused>(CROSSOVER_REFUSED);
  CopyCut(reason, wire.reason);
  return wire;
}

crossover_notice MakeNotice(std::string_view text) {
  crossover_notice wire{};
  wire.header = HeaderOf<crossover_notice>(CROSSOVER_NOTICE);
  CopyCut(text, wire.text);
  return wire;
}

}  // namespace crossover::arbiter

// Reads and writes the tail of an ncclUniqueId, in which the process that made the ID says where it listens
// for a vote. NCCL has its own words, a magic number and a socket address, at the front; the rest is zero.
// Each rank gets all 128 bytes by the framework's own way. Pure: no socket. Allocates nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "shrink/vote/messages.h"

namespace crossover::shrink::meeting {

using vote::Reason;

inline constexpr std::uint32_t kTailMagic = 0x4c544f43u;  // "COTL"
inline constexpr std::uint16_t kTailVersion = 1;
// NCCL 2.28 uses the first 40 bytes. We write into the last 32, and only where the last 64 are zero, so that
// later versions of NCCL may use more than today.
inline constexpr std::size_t kZeroFrom = 64;
inline constexpr std::size_t kTailAt = 96;

// A WireTail is what is in the ID. Its fields are little endian, as in all messages of a vote.
struct WireTail {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t port;        // 1 to 65535
  std::uint8_t address[16];  // of IPv6, or of IPv4 as ::ffff:a.b.c.d
  std::uint32_t scope;  // of a link-local address of IPv6, as the process that listens numbers its interfaces
  std::uint32_t reserved;  // 0
};
static_assert(kTailAt + sizeof(WireTail) == vote::kIdBytes, "wire size");

// An Address is one of IPv6, or one of IPv4 as ::ffff:a.b.c.d.
struct Address {
  std::array<std::uint8_t, 16> bytes{};
  std::uint32_t scope = 0;
  friend bool operator==(const Address&, const Address&) = default;
};
bool IsIpv4(const Address& address);
Address FromIpv4(const std::uint8_t (&bytes)[4]);

// A Place is where a process listens.
struct Place {
  Address address;
  std::uint16_t port = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

enum class TailKind : std::uint8_t {
  kNone,    // the bytes are zero: no process listens
  kPlace,   // they say where a process listens
  kUnknown  // they are not ours, or of another version
};
struct Tail {
  TailKind kind = TailKind::kNone;
  Place place;    // of kPlace
  Reason reason;  // of kUnknown: "tail of the unique ID: KEY: expected X, got Y"
};

// Returns what the tail of an ID says. The bytes come from another process, and are not trusted.
Tail ReadTail(const vote::Id& id);

// Writes the place into the ID. Returns false, and leaves the ID as it is, if its tail is not zero.
// REQUIRES: the port is not 0.
bool WriteTail(const Place& place, vote::Id* id);

// Returns the address in NCCL's own words, at which the process that made the ID is reached; an address of
// zeros if the words are not those of NCCL.
Address AddressOfNccl(const vote::Id& id);

}  // namespace crossover::shrink::meeting

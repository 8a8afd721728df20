#include "shrink/meeting/tail.h"

#include <algorithm>
#include <cstring>

namespace crossover::shrink::meeting {
namespace {

using vote::Id;
using vote::MakeReason;

constexpr std::uint8_t kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

bool IsZero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

// Returns whether a process can listen there: no address of zeros, and none of many processes.
bool IsOneHost(const Address& address) {
  const auto& bytes = address.bytes;
  if (!IsIpv4(address)) return !IsZero(bytes) && bytes[0] != 0xff;
  return !IsZero(std::span(bytes).last(4)) && bytes[12] < 224;
}

Tail Unknown(const Reason& reason) { return {TailKind::kUnknown, {}, reason}; }

}  // namespace

bool IsIpv4(const Address& address) {
  return std::equal(std::begin(kMapped), std::end(kMapped), address.bytes.begin());
}

Address FromIpv4(const std::uint8_t (&bytes)[4]) {
  Address address;
  std::copy(std::begin(kMapped), std::end(kMapped), address.bytes.begin());
  std::copy(std::begin(bytes), std::end(bytes), address.bytes.begin() + sizeof kMapped);
  return address;
}

Tail ReadTail(const Id& id) {
  if (IsZero(std::span(id).subspan(kZeroFrom))) return {};
  WireTail wire;
  std::memcpy(&wire, id.data() + kTailAt, sizeof wire);
  if (wire.magic != kTailMagic)
    return Unknown(
        MakeReason("tail of the unique ID: magic: expected %08x, got %08x", kTailMagic, wire.magic));
  if (wire.version != kTailVersion)
    return Unknown(
        MakeReason("tail of the unique ID: version: expected %u, got %u", kTailVersion, wire.version));
  if (wire.port == 0) return Unknown(MakeReason("tail of the unique ID: port: expected 1 to 65535, got 0"));
  if (wire.reserved != 0)
    return Unknown(MakeReason("tail of the unique ID: reserved: expected 0, got %u", wire.reserved));
  if (!IsZero(std::span(id).subspan(kZeroFrom, kTailAt - kZeroFrom)))
    return Unknown(MakeReason("tail of the unique ID: bytes %zu to %zu: expected zeros, got others",
                              kZeroFrom, kTailAt - 1));
  Tail tail{TailKind::kPlace, {{{}, wire.scope}, wire.port}, {}};
  std::copy(std::begin(wire.address), std::end(wire.address), tail.place.address.bytes.begin());
  if (!IsOneHost(tail.place.address))
    return Unknown(MakeReason("tail of the unique ID: address: expected that of a host, got another"));
  return tail;
}

bool WriteTail(const Place& place, Id* id) {
  if (!IsZero(std::span(*id).subspan(kZeroFrom))) return false;
  WireTail wire{kTailMagic, kTailVersion, place.port, {}, place.address.scope, 0};
  std::copy(place.address.bytes.begin(), place.address.bytes.end(), wire.address);
  std::memcpy(id->data() + kTailAt, &wire, sizeof wire);
  return true;
}

// NCCL's words are 8 bytes of magic and a sockaddr_in or sockaddr_in6, whose numbers are those of Linux.
Address AddressOfNccl(const Id& id) {
  constexpr std::size_t kFamilyAt = 8;
  constexpr std::uint16_t kIpv4 = 2, kIpv6 = 10;
  std::uint16_t family = 0;
  std::memcpy(&family, id.data() + kFamilyAt, sizeof family);
  if (family == kIpv4) {
    std::uint8_t bytes[4];
    std::memcpy(bytes, id.data() + kFamilyAt + 4, sizeof bytes);
    return FromIpv4(bytes);
  }
  Address address;
  if (family != kIpv6) return address;
  std::memcpy(address.bytes.data(), id.data() + kFamilyAt + 8, address.bytes.size());
  std::memcpy(&address.scope, id.data() + kFamilyAt + 24, sizeof address.scope);
  return address;
}

}  // namespace crossover::shrink::meeting

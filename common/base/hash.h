// Hashes text, so that programs can distinguish texts by a short number. The hash is not cryptographic: an
// attacker can make two texts with the same hash.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace crossover::base {

// Returns the FNV-1a hash of `text`, 64 bits.
constexpr std::uint64_t Hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Returns the 16 hexadecimal digits of `hash` and a closing zero byte.
constexpr std::array<char, 17> HexOf(std::uint64_t hash) {
  std::array<char, 17> digits{};
  for (std::size_t i = 16; i-- > 0; hash >>= 4) digits[i] = "0123456789abcdef"[hash & 0xf];
  return digits;
}

}  // namespace crossover::base

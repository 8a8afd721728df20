// Describes one collective call for the phase detector.
#pragma once

#include <cstdint>

namespace crossover::phase {

// A Token is one collective call. NCCL demands the same sequence of calls on every rank of a communicator. So
// a decision that depends on these fields alone is the same on every rank, and falls at the same call.
struct Token {
  std::uint32_t communicator = 0;  // in order of creation in this process
  std::uint32_t function = 0;
  std::uint64_t count = 0;
  std::uint32_t datatype = 0;
  std::int32_t op_or_root = 0;
  std::int32_t root = 0;
};

// Returns a 64-bit digest, by which the detector compares tokens. It is not cryptographic: with a collision,
// a job would only make its own turns end at a bad place.
constexpr std::uint64_t Digest(const Token& token) {
  std::uint64_t digest = 0x9e3779b97f4a7c15u;
  const auto mix = [&digest](std::uint64_t value) {
    digest = (digest ^ value) * 0xff51afd7ed558ccdu;
    digest ^= digest >> 32;
  };
  mix(token.communicator);
  mix(token.function);
  mix(token.count);
  mix(token.datatype);
  mix(static_cast<std::uint32_t>(token.op_or_root));
  mix(static_cast<std::uint32_t>(token.root));
  return digest;
}

}  // namespace crossover::phase

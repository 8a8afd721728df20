// One collective call, as the phase detector sees it.
#pragma once

#include <cstdint>

namespace crossover::phase {

// NCCL demands the same sequence of calls on every rank of a communicator. Whatever is decided from these
// fields alone is therefore decided alike, and at the same call, on every rank.
struct Token {
  std::uint32_t communicator = 0;  // in order of creation in this process
  std::uint32_t function = 0;
  std::uint64_t count = 0;
  std::uint32_t datatype = 0;
  std::int32_t op_or_root = 0;
  std::int32_t root = 0;
};

// 64-bit digest; tokens are compared by it. Not cryptographic: nobody gains by a collision, who would only
// take turns at an unlucky place of their own job.
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

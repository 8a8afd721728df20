// How many SMs the blocks of a launch fill, as far as threads and blocks decide it: kernels here have neither
// registers nor shared memory. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simgpu/model/constants.h"

namespace simgpu {

// Blocks of so many threads that one SM holds at once.
constexpr std::uint64_t BlocksOfAnSm(std::uint64_t threads) {
  constexpr std::uint64_t kWarp = 32;
  const std::uint64_t rounded = std::max<std::uint64_t>((threads + kWarp - 1) / kWarp, 1) * kWarp;
  return std::clamp<std::uint64_t>(constants::kThreadsOfAnSm / rounded, 1, constants::kBlocksOfAnSm);
}

// SMs that `blocks` of so many threads fill; it may be more than a GPU has.
constexpr std::uint64_t SmsOfGrid(std::uint64_t blocks, std::uint64_t threads) {
  return std::max<std::uint64_t>((blocks + BlocksOfAnSm(threads) - 1) / BlocksOfAnSm(threads), 1);
}

}  // namespace simgpu

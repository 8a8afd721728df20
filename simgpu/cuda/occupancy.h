// Computes how many SMs the blocks of a launch fill. Only threads and blocks count, because kernels here
// have neither registers nor shared memory. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "simgpu/model/constants.h"

namespace simgpu {

// Returns how many blocks of `threads` threads one SM holds at once.
constexpr std::uint64_t BlocksOfAnSm(std::uint64_t threads) {
  constexpr std::uint64_t kWarp = 32;
  const std::uint64_t rounded = std::max<std::uint64_t>((threads + kWarp - 1) / kWarp, 1) * kWarp;
  return std::clamp<std::uint64_t>(constants::kThreadsOfAnSm / rounded, 1, constants::kBlocksOfAnSm);
}

// Returns how many SMs `blocks` blocks of `threads` threads fill. That may be more than a GPU has.
constexpr std::uint64_t SmsOfGrid(std::uint64_t blocks, std::uint64_t threads) {
  return std::max<std::uint64_t>((blocks + BlocksOfAnSm(threads) - 1) / BlocksOfAnSm(threads), 1);
}

}  // namespace simgpu

// Says how the memory of signals is divided (proto/signaller_protocol.h). Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/signaller_protocol.h"

namespace crossover::turn {

// Returns how many areas memory of this many bytes has, without area 0.
constexpr std::uint32_t AreasOf(std::size_t memory_bytes) {
  const std::size_t areas = memory_bytes / CROSSOVER_SIGNAL_AREA_BYTES;
  return areas == 0 ? 0 : static_cast<std::uint32_t>(areas - 1);
}

}  // namespace crossover::turn

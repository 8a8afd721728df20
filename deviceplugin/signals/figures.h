// Defines what the arbiter counts of the signals of one GPU.
#pragma once

#include <array>
#include <cstdint>

#include "proto/signaller_protocol.h"

namespace crossover::signals {

struct Figures {
  int signallers = 0;  // that are connected: one works, and the others stand ready
  // Offers that clients got, by crossover_offer_state.
  std::array<std::uint64_t, CROSSOVER_OFFER_STATES> offers{};
  std::uint64_t proofs_written = 0;
  std::uint64_t proofs_failed = 0;
  std::uint64_t again = 0;  // signals that were written more than once
};

}  // namespace crossover::signals

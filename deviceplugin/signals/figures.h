// Defines what the arbiter counts of the signals of one GPU.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "proto/signaller_protocol.h"

namespace crossover::signals {

struct Figures {
  int signallers = 0;  // connected signallers: one works, and the others stand ready
  // Holds the process IDs of the signallers, as the kernel reports them. A process in a PID namespace that
  // the daemon cannot see is left out.
  std::vector<std::int64_t> processes{};
  // Holds what these processes cost on the host. A value is unset if the kernel tells it of none of them.
  struct Host {
    std::optional<std::uint64_t> resident_bytes{};
    std::optional<double> cpu_seconds{};  // also of processes that have ended while the daemon watched them
  };
  Host host{};
  std::uint64_t exported_bytes = 0;  // of the GPU's memory, for all clients together; 0: none is exported
  // Offers that clients got, by crossover_offer_state.
  std::array<std::uint64_t, CROSSOVER_OFFER_STATES> offers{};
  std::uint64_t proofs_written = 0;
  std::uint64_t proofs_failed = 0;
  std::uint64_t again = 0;  // times that a signal was written again for a client at its open gate
};

using ByGpu = std::map<std::string, Figures>;  // by UUID

// Names the source of Figures::exported_bytes. It is not all that signallers hold: no interface that the
// daemon has says what a context takes.
inline constexpr char kExported[] = "exported";

}  // namespace crossover::signals

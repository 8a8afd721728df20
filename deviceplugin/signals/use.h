// Says whether signallers may use the GPUs of the machine while no client is there.
#pragma once

#include <cstdint>

namespace crossover::signals {

enum class Use : std::uint8_t {
  kNotKnown,  // the node has not been read yet: signallers go on as they are
  kAllowed,
  kEnded,  // none of our processes may use a GPU that has no client: the node is in maintenance
};

}  // namespace crossover::signals

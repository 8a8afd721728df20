// Decides how the GPUs of a node are shared, from the configuration and from the state of MPS. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/withheld.h"

namespace crossover::deviceplugin {

enum class Sharing : std::uint8_t {
  kAuto,       // kMps if the MPS control daemon runs, else kExclusive
  kMps,        // concurrent kernels; without the MPS control daemon nothing is given out
  kTimeslice,  // the driver's time-slicing: turns last until collectives have ended
  kExclusive   // one slot per GPU
};

std::string_view Name(Sharing sharing);

struct SharingStrategy {
  Sharing sharing = Sharing::kExclusive;              // never kAuto
  std::string reason;                                 // reason for the strategy, in words
  std::optional<base::WithheldReason> withheld = {};  // why no slot is given out now; unset: they are

  friend bool operator==(const SharingStrategy&, const SharingStrategy&) = default;
};

struct MpsHistory {
  bool alive = false;      // the MPS control daemon runs
  bool was_there = false;  // MPS ran a moment ago, and may be restarting
  bool needed = false;     // a living pod was started as a client of MPS
  bool known = true;       // it is known whether MPS takes new clients, or the daemon cannot find out
  std::string fault{};     // why it takes no new clients although it runs; empty: no reason is known
};

// Returns how the GPUs are shared. Pods that were started under MPS get no neighbours without it: if the
// MPS control daemon ends, nothing is given out until it is back or these pods are gone. While it takes no
// new clients, or that is not known yet, nothing is given out either, and the GPUs stay shared through it.
SharingStrategy ChooseSharing(Sharing wanted, const MpsHistory& mps);

}  // namespace crossover::deviceplugin

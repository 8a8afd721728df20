// How the GPUs of a node are shared: chosen from what is wanted and what is there. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crossover::deviceplugin {

enum class Sharing : std::uint8_t {
  kAuto,       // MPS where its control daemon runs, else each GPU for one
  kMps,        // kernels of several processes at once; without its control daemon nothing is given out
  kTimeslice,  // the driver's own way: turns then last until collectives have ended
  kExclusive   // one slot per GPU
};

std::string_view Name(Sharing sharing);

struct SharingChoice {
  Sharing sharing = Sharing::kExclusive;  // never kAuto
  std::string reason;                     // in words
  std::string withheld;                   // why nothing is given out now; empty: it is

  friend bool operator==(const SharingChoice&, const SharingChoice&) = default;
};

struct MpsHistory {
  bool alive = false;      // its control daemon runs
  bool was_there = false;  // it ran a moment ago, and may only be starting anew
  bool needed = false;     // a pod that lives was started as its client
};

// Pods that were started under MPS get no neighbours without it: where its daemon goes, nothing is given out
// until it is back or they are gone.
SharingChoice ChooseSharing(Sharing wanted, const MpsHistory& mps);

}  // namespace crossover::deviceplugin

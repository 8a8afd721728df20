// What administrators may say about placement.
#pragma once

#include <string>
#include <vector>

#include "extender/placement/model.h"

namespace crossover::placement {

// kWhenFull: as long as all that wait can have GPUs of their own, they do. kAlways: whoever gains meets.
enum class Sharing : std::uint8_t { kWhenFull, kAlways };

struct Settings {
  Sharing sharing = Sharing::kWhenFull;
  // Jobs of two namespaces that both consent to the whole cluster meet within one of these groups only. None:
  // they meet anywhere.
  std::vector<std::vector<std::string>> namespace_groups;

  double efficiency = 0.95;          // of the best rate, what turns are expected to reach
  double min_gain = 1.05;            // each newcomer has to raise what a set of GPUs reaches by this factor
  double memory_margin = 0.10;       // added to a measured peak
  Bytes context_reserve = 1u << 29;  // of each GPU, for each of its clients
  double spanning_bonus = 0.05;      // on what is gained by jobs that span nodes
  // A gang that has waited for longer than this, and for longer than `starvation_runs` times as long as those
  // that run have run, goes before all others, and GPUs are kept for it (patience.h).
  double starvation_s = 1800;
  double starvation_runs = 3;
};

}  // namespace crossover::placement

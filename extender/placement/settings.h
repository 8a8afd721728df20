// Defines what administrators can configure about placement.
#pragma once

#include <string>
#include <vector>

#include "common/gains/turns.h"
#include "extender/placement/model.h"

namespace crossover::placement {

// kWhenFull: as long as every waiting gang can have GPUs of its own, each gets them. kAlways: gangs share
// wherever they gain by it.
enum class Sharing : std::uint8_t { kWhenFull, kAlways };

struct Settings {
  Sharing sharing = Sharing::kWhenFull;
  // Jobs of two namespaces that both consent to the whole cluster share GPUs only if one of these groups has
  // both namespaces. With no groups, namespaces do not matter.
  std::vector<std::vector<std::string>> namespace_groups;

  double efficiency = gains::kReached;     // part of the best rate that turns are expected to reach
  double min_gain = gains::kWorthSharing;  // the factor by which each newcomer must raise the gain of a set
  double memory_margin = 0.10;             // part of a measured peak that is added to it
  Bytes context_reserve = 1u << 29;        // on each GPU, for each of its clients
  double spanning_bonus = 0.05;            // part that is added to the gain of jobs that span nodes
  // A gang goes before the others of its rank once it has waited for longer than `starvation_s` seconds and
  // for longer than `starvation_runs` times the mean time for which gangs have had their GPUs so far. If it
  // then finds no place, GPUs are kept for it. starvation.h has the exact rule.
  double starvation_s = 1800;
  double starvation_runs = 3;
};

}  // namespace crossover::placement

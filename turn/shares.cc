#include "turn/shares.h"

#include <algorithm>

namespace crossover::turn {

double FairRate(const Demand* demands, std::size_t count) {
  double use = 0;
  for (std::size_t i = 0; i < count; ++i) use += demands[i].use();
  return use > 1 ? 1 / use : 1;
}

double WholeTurnsRate(const Demand* demands, std::size_t count) {
  Time busy = 0;
  Time shortest = kNever;
  Time longest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    busy += demands[i].busy;
    shortest = std::min(shortest, demands[i].alone());
    longest = std::max(longest, demands[i].alone());
  }
  if (count == 0) return 1;
  return static_cast<double>(shortest) / static_cast<double>(std::max(busy, longest));
}

void Shares::Join(SlotIndex slot) { progress_[slot] = *std::max_element(progress_.begin(), progress_.end()); }

Time Shares::ProgressOf(Time served, const Demand& demand) {
  if (!demand.known()) return served;
  return static_cast<Time>(static_cast<double>(served) / demand.use());
}

// Nobody saves up for later: a client that stayed away for longer than two of its iterations is owed no more
// than those.
void Shares::Credit(SlotIndex slot, Time served, const Demand& demand) {
  constexpr Time kUnknownIteration = 100'000'000;
  progress_[slot] += ProgressOf(served, demand);
  const Time owed = 2 * (demand.known() ? demand.alone() : kUnknownIteration);
  for (Time& other : progress_) other = std::max(other, progress_[slot] - owed);
}

}  // namespace crossover::turn

#include "common/gains/balance.h"

#include <algorithm>

namespace crossover::gains {

double WaitBeside(double wait_s, double away_s, double step_s, std::span<const Neighbour> neighbours) {
  double busy_s = 0;
  for (const Neighbour& neighbour : neighbours) {
    const double turns = neighbour.step_s > 0 ? std::min(1.0, step_s / neighbour.step_s) : 1;
    busy_s += turns * neighbour.compute_s;
  }
  return std::max(wait_s, busy_s - away_s);
}

Balance BalanceOf(std::span<const RankTimes> ranks, std::span<const double> parts) {
  Balance balance;
  double all = 0, speeds = 0, waits = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double speed = parts[i] / ranks[i].compute_s;
    all += parts[i];
    speeds += speed;
    waits += speed * ranks[i].wait_s;
    balance.longest_s = std::max(balance.longest_s, ranks[i].compute_s + ranks[i].wait_s);
  }
  balance.together_s = (all + waits) / speeds;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    balance.parts.push_back(
        std::max(0.0, parts[i] / ranks[i].compute_s * (balance.together_s - ranks[i].wait_s)));
  }
  return balance;
}

double GainOf(const Balance& balance, double step_s) {
  if (step_s < balance.longest_s) return 1;
  return step_s / (step_s - balance.longest_s + balance.together_s);
}

}  // namespace crossover::gains

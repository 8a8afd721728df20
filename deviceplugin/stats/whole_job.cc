#include "deviceplugin/stats/whole_job.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace crossover::deviceplugin {
namespace {

// Returns the value below which `part` of the values lie (0 to 1).
double QuantileOf(std::vector<double> values, double part) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size()));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}
double MedianOf(const std::vector<double>& values) { return QuantileOf(values, 0.5); }

// The estimate for ranks on other nodes counts as wrong by this part of itself. With 0.5, the stated errors
// in the job model were three times the median of the real errors.
constexpr double kOfMissing = 0.25;

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Returns the mean of of[i], where sorted[i] is the largest of `draws` random draws from `sorted`.
double MeanOfLongest(const std::vector<double>& sorted, const std::vector<double>& of, double draws) {
  double mean = 0;
  double below = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double up_to = std::pow(static_cast<double>(i + 1) / static_cast<double>(sorted.size()), draws);
    mean += of[i] * (up_to - below);
    below = up_to;
  }
  return mean;
}
double MeanLongest(const std::vector<double>& sorted, double draws) {
  return MeanOfLongest(sorted, sorted, draws);
}

}  // namespace

// Sums holds the iterations that were seen whole, without stalls, in order of time.
struct WholeJob::Sums {
  std::vector<double> longest;   // sum of the longest turns
  std::vector<double> absences;  // sum of the shortest absences
  std::vector<double> pooled;    // turns of every single rank
  std::size_t ranks = 0;

  bool enough() const { return longest.size() >= kLeast; }
  // Returns the mean time of an iteration alone, as far as the ranks here show it. If the slowest rank of an
  // iteration is on another node, the absences here are longer than the collective. The share of such
  // iterations is the share of the ranks on other nodes. The other iterations have the shorter absences, and
  // the median of these is the length of the collective.
  double alone(double all_ranks) const {
    return MeanOf(longest) + QuantileOf(absences, static_cast<double>(ranks) / all_ranks / 2);
  }
};

WholeJob::Iteration* WholeJob::At(const Part& part, turn::Time now) {
  const auto newer = std::find_if(iterations_.rbegin(), iterations_.rend(), [&part](const Iteration& seen) {
    return static_cast<std::int32_t>(seen.number - part.iteration) <= 0;
  });
  if (newer != iterations_.rend() && newer->number == part.iteration) return &*newer;
  if (newer == iterations_.rend() && iterations_.size() >= kMost)
    return nullptr;  // older than all that is kept
  Iteration& added =
      *iterations_.insert(newer.base(), {.number = part.iteration, .at = now, .turns = part.turns});
  added.shortest.fill(turn::kNever);
  Iteration* kept = &added;
  while (iterations_.size() > kMost ||
         (iterations_.size() > kFew && iterations_.front().at < now - kWindow)) {
    if (&iterations_.front() == kept) return nullptr;
    iterations_.pop_front();
  }
  return kept;
}

bool WholeJob::Takes(const Iteration& iteration, std::uint64_t rank) {
  return iteration.computed.size() < kMostRanks || iteration.computed.contains(rank);
}

void WholeJob::NoteTurn(const Part& part, turn::Time turn, turn::Time now) {
  if (part.position >= part.turns || part.turns > turn::kMaxTurns || turn <= 0) return;
  Iteration* iteration = At(part, now);
  if (iteration == nullptr || iteration->turns != part.turns || !Takes(*iteration, part.rank)) return;
  ++iteration->turns_seen[part.position];
  iteration->longest[part.position] = std::max(iteration->longest[part.position], turn);
  iteration->computed[part.rank] += turn;
}

void WholeJob::NoteAway(const Part& part, turn::Time away, turn::Time now) {
  if (part.position >= part.turns || part.turns > turn::kMaxTurns || away < 0) return;
  Iteration* iteration = At(part, now);
  if (iteration == nullptr || iteration->turns != part.turns || !Takes(*iteration, part.rank)) return;
  ++iteration->aways_seen[part.position];
  iteration->shortest[part.position] = std::min(iteration->shortest[part.position], away);
}

std::size_t WholeJob::RanksHere() const {
  std::size_t ranks = 0;
  for (const Iteration& iteration : iterations_) ranks = std::max(ranks, iteration.computed.size());
  return ranks;
}

WholeJob::Sums WholeJob::Sum() const {
  Sums sums;
  sums.ranks = RanksHere();
  std::vector<const Iteration*> whole;
  std::vector<double> alone;
  for (const Iteration& iteration : iterations_) {
    bool all = true;
    double time = 0;
    for (std::uint32_t position = 0; position < iteration.turns; ++position) {
      all =
          all && iteration.turns_seen[position] == sums.ranks && iteration.aways_seen[position] == sums.ranks;
      if (all) time += static_cast<double>(iteration.longest[position] + iteration.shortest[position]);
    }
    if (!all || iteration.turns != iterations_.back().turns) continue;
    whole.push_back(&iteration);
    alone.push_back(time);
  }
  if (whole.size() < kLeast) return sums;
  const double stall = MedianOf(alone) * static_cast<double>(kStall);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (alone[i] >= stall) continue;
    const turn::Time longest =
        std::accumulate(whole[i]->longest.begin(), whole[i]->longest.end(), turn::Time{0});
    sums.longest.push_back(static_cast<double>(longest));
    sums.absences.push_back(alone[i] - static_cast<double>(longest));
    for (const auto& [rank, computed] : whole[i]->computed)
      sums.pooled.push_back(static_cast<double>(computed));
  }
  return sums;
}

std::optional<Precise> WholeJob::Alone(std::uint32_t ranks) const {
  Sums sums = Sum();
  if (!sums.enough()) return std::nullopt;
  const double all = std::max(static_cast<double>(ranks), static_cast<double>(sums.ranks));
  double alone = sums.alone(all);
  const double seen = alone;
  double missing = 0;
  if (all > static_cast<double>(sums.ranks)) {
    std::sort(sums.pooled.begin(), sums.pooled.end());
    missing = MeanLongest(sums.pooled, all) - MeanLongest(sums.pooled, static_cast<double>(sums.ranks));
    alone += missing;
  }
  const double drawn = ErrorOfMean(sums.longest) * MeanOf(sums.longest);
  const double error = std::hypot(std::hypot(drawn, missing * kOfMissing), kInCompany * seen);
  return Precise{static_cast<turn::Time>(alone), error / alone};
}

std::optional<double> WholeJob::Spread(std::uint32_t ranks) const {
  Sums sums = Sum();
  if (!sums.enough()) return std::nullopt;
  const double here = static_cast<double>(sums.ranks);
  const double all = std::max(static_cast<double>(ranks), here);
  std::vector<double>& turns = all > here ? sums.pooled : sums.longest;
  std::sort(turns.begin(), turns.end());
  const double draws = all > here ? all : 1;
  const double mean = MeanLongest(turns, draws);
  std::vector<double> squares;
  for (const double turn : turns) squares.push_back((turn - mean) * (turn - mean));
  return std::sqrt(MeanOfLongest(turns, squares, draws)) / sums.alone(all);
}

}  // namespace crossover::deviceplugin

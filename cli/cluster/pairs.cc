#include "cli/cluster/pairs.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "cli/render/table.h"

namespace crossover::cli {
namespace {

bool IsKnown(const Run& run) { return run.use.gpu > 0; }

double SecondsTogether(const Run& a, const Run& b) {
  return std::min(a.ended, b.ended) - std::max(a.began, b.began);
}

// Returns whether the two could have met. A gang cannot share with itself: two runs of it at a time are one
// run, for which two profiles report different starts.
bool CouldMeet(const Run& a, const Run& b) {
  return a.gang != b.gang && a.gpus == b.gpus && IsKnown(a) && IsKnown(b) && SecondsTogether(a, b) > 0;
}

// Returns what they gain over one after the other if turns reach this part of the bound.
double GainOf(const Run& a, const Run& b, double reached) {
  const std::array uses = {a.use, b.use};
  return gains::FairRates(uses, reached).Sum();
}

// Returns the gain by which the extender decides whether they share.
double PromisedGain(const Run& a, const Run& b) { return GainOf(a, b, gains::kReached); }

std::optional<Pair> PairOf(const std::vector<Run>& runs, std::size_t a, std::size_t b) {
  if (!CouldMeet(runs[a], runs[b])) return std::nullopt;
  if (PromisedGain(runs[a], runs[b]) < gains::kWorthSharing) return std::nullopt;
  const double gain = GainOf(runs[a], runs[b], gains::kUsuallyReached);
  const double hours =
      2 * static_cast<double>(runs[a].gpus) * SecondsTogether(runs[a], runs[b]) / kSecondsPerHour;
  return Pair{.a = a, .b = b, .gain = gain, .saved_hours = hours * (1 - 1 / gain)};
}

std::string Percent(double part) { return Number(1e2 * part, 0) + "%"; }

// Returns why `run` gains too little with `other`, which is `gain`.
std::string WhyTooLittle(const Run& run, const Run& other, double gain) {
  const bool link = run.use.link + other.use.link > run.use.gpu + other.use.gpu;
  const auto part = [link](const Run& of) { return Percent(link ? of.use.link : of.use.gpu); };
  // Rounds down where the gain would look like enough.
  const double shown = std::min(gain, gains::kWorthSharing - 0.0051);
  return "with " + other.gang + " it gains most, " + Number(shown, 2) + " times, expected " +
         Number(gains::kWorthSharing, 2) + " at least: this job " +
         (link ? "keeps the link busy" : "computes") + " for " + part(run) +
         " of its step, and the other job for " + part(other) + " of its own step";
}

std::string WhyAlone(const std::vector<Run>& runs, const Run& run) {
  if (!IsKnown(run)) return "its compute and its waits are not known";
  const Run* best = nullptr;
  double most = 0;
  for (const Run& other : runs) {
    if (!CouldMeet(run, other)) continue;
    const double gain = PromisedGain(run, other);
    if (best != nullptr && gain <= most) continue;
    best = &other;
    most = gain;
  }
  if (best == nullptr) {
    return "no other job that had its GPUs alone, and whose needs are known, ran at the same time on " +
           std::to_string(run.gpus) + (run.gpus == 1 ? " GPU, too" : " GPUs, too");
  }
  if (most < gains::kWorthSharing) return WhyTooLittle(run, *best, most);
  return "each job that it gains with is in a pair that saves more";
}

}  // namespace

std::vector<Pair> BestPairs(const std::vector<Run>& runs) {
  std::vector<Pair> all, best;
  for (std::size_t a = 0; a < runs.size(); ++a) {
    for (std::size_t b = a + 1; b < runs.size(); ++b) {
      if (const auto pair = PairOf(runs, a, b)) all.push_back(*pair);
    }
  }
  std::ranges::stable_sort(all, [](const Pair& x, const Pair& y) { return x.saved_hours > y.saved_hours; });
  std::set<std::size_t> taken;
  for (const Pair& pair : all) {
    if (taken.contains(pair.a) || taken.contains(pair.b)) continue;
    taken.insert({pair.a, pair.b});
    best.push_back(pair);
  }
  return best;
}

std::vector<Unpaired> UnpairedOf(const std::vector<Run>& runs, const std::vector<Pair>& pairs) {
  std::set<std::string> paired;
  for (const Pair& pair : pairs) paired.insert({runs[pair.a].gang, runs[pair.b].gang});
  std::map<std::string, const Run*> latest;
  for (const Run& run : runs) {
    if (paired.contains(run.gang)) continue;
    const Run*& known = latest[run.gang];
    if (known == nullptr || run.ended > known->ended) known = &run;
  }
  std::vector<Unpaired> unpaired;
  for (const auto& [gang, run] : latest) unpaired.push_back({.gang = gang, .why = WhyAlone(runs, *run)});
  return unpaired;
}

}  // namespace crossover::cli

#include "benchmarks/placement/muri.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace crossover::benchmarks {
namespace {

constexpr std::size_t kLoad = 0, kCompute = 1, kSend = 2;
constexpr int kPlaces = 4;  // in a round: three stages, and a fourth step in which loading may go on

// Returns the cycle of jobs in one order. In step i the job at place (i + 1) sends, the one at (i + 2)
// computes, and the one at (i + 3) ends a load that it began a step earlier. Two rounds make the times
// steady.
double CycleInOrder(const std::vector<const Job*>& order) {
  constexpr int kSteps = 2 * kPlaces;
  const int count = static_cast<int>(order.size());
  double done[kSteps + 1] = {};
  for (int i = 0; i < kSteps; ++i) {
    const auto needs = [&](int place, std::size_t stage, int since) {
      place %= kPlaces;
      if (place >= count) return;
      done[i + 1] = std::max(done[i + 1], done[since] + order[static_cast<std::size_t>(place)]->stage[stage]);
    };
    needs(i + 1, kSend, i);
    needs(i + 2, kCompute, i);
    if (i > 0) needs(i + 3, kLoad, i - 1);
    if (i >= kPlaces) {
      const double round = done[i + 1] - done[i - 3], before = done[i] - done[i - 4];
      if (round > 0 && std::abs(round - before) <= 1e-3 * std::max(round, before)) return round;
    }
  }
  return done[kSteps] - done[kSteps - kPlaces];
}

double Behind(const Job& a, const Job& b) {
  return std::max(a.stage[kLoad], b.stage[kCompute] + b.stage[kSend]) +
         std::max(b.stage[kLoad], a.stage[kCompute] + a.stage[kSend]);
}

}  // namespace

double IdealCycle(std::span<const Job* const> jobs) {
  if (jobs.size() == 1) return jobs[0]->iteration_s * kAlonePenalty;
  std::vector<const Job*> order(jobs.begin(), jobs.end());
  std::ranges::sort(order);
  double best = jobs.size() == 2 ? Behind(*jobs[0], *jobs[1]) : HUGE_VAL;
  do {
    best = std::min(best, CycleInOrder(order));
  } while (std::ranges::next_permutation(order).found);
  return best;
}

double PublishedCycle(std::span<const Job* const> jobs) { return IdealCycle(jobs) * kPenalty[jobs.size()]; }

double StartOf(const Job& job) {
  static const std::map<std::string, std::array<double, 6>> kStart = {
      {"vgg16", {7, 7, 8, 9, 9, 10}},     {"vgg19", {7, 7, 8, 9, 10, 10}},
      {"resnet18", {4, 5, 5, 7, 7, 7}},   {"shufflenet_v2_x1_0", {4, 4, 5, 5, 7, 8}},
      {"bert", {10, 10, 10, 10, 10, 10}}, {"gpt2", {10, 10, 10, 10, 10, 10}},
      {"a2c", {38, 39, 39, 46, 46, 46}},  {"dqn", {5, 5, 6, 6, 8, 8}}};
  const auto found = kStart.find(job.model);
  if (found == kStart.end()) return 10;
  const auto size = static_cast<std::size_t>(std::lround(std::log2(job.gpus)));
  return found->second[std::min<std::size_t>(size, 5)];
}

}  // namespace crossover::benchmarks

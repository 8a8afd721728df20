#include "benchmarks/placement/traces/steps.h"

#include <algorithm>
#include <cstdlib>

#include "benchmarks/placement/traces/table.h"

namespace crossover::benchmarks {
namespace {

constexpr char kFull = '4';
constexpr std::size_t kMostNodes = 16;

// Returns the GPUs of a packed placement, or 0 where the placement is not packed.
int PackedGpus(const Row& row) {
  const std::string& placement = row.Text("placement");
  const auto is_count = [](char c) { return c >= '1' && c <= kFull; };
  if (placement.size() > kMostNodes || !std::ranges::all_of(placement, is_count))
    row.Refuse("placement", "one digit from 1 to 4 for each of up to 16 nodes");
  if (static_cast<std::size_t>(std::ranges::count(placement, kFull)) + 1 < placement.size()) return 0;
  int gpus = 0;
  for (const char c : placement) gpus += c - '0';
  return gpus;
}

}  // namespace

std::map<int, Step> ParseSteps(std::istream& text, const std::string& file, int batch) {
  std::map<int, Step> steps;
  std::map<int, int> distances;  // between the batch taken and the one asked for
  EachRow(text, file, ',', {}, [&](const Row& row) {
    const int gpus = PackedGpus(row);
    const int distance = std::abs(row.Whole("local_bsz", 1) - batch);
    Step step;
    step.step_s = row.Number("step_time", 1e-6, 1e6);
    step.sync_s = row.Number("sync_time", 0, step.step_s);
    if (gpus == 0) return;
    const auto [known, is_new] = distances.try_emplace(gpus, distance);
    if (!is_new && known->second <= distance) return;
    known->second = distance;
    steps[gpus] = step;
  });
  return steps;
}

}  // namespace crossover::benchmarks

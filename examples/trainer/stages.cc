#include "examples/trainer/stages.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <tuple>
#include <utility>

#include "common/base/refusal.h"
#include "examples/trainer/parameters.h"

namespace crossover::trainer {
namespace {

constexpr std::uint32_t kDefaultMicrobatches = 4;

// Returns a time for each block: that of the list, or the only one of it for all.
std::variant<std::vector<double>, UsageError> TimesOf(const std::vector<double>& given, std::uint32_t blocks,
                                                      const char* flag) {
  if (given.empty()) return std::vector<double>(blocks, 1.0);
  if (given.size() == 1) return std::vector<double>(blocks, given.front());
  if (given.size() == blocks) return given;
  return UsageError{base::Refusal(flag, "one time, or one for each of " + std::to_string(blocks) + " blocks",
                                  std::to_string(given.size()) + " of them")};
}

template <typename T>
void Append(std::string* bytes, const T& value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::variant<Stages, UsageError> EvenStages(const Options& options, std::uint32_t ranks) {
  Stages stages;
  const std::uint32_t blocks = options.blocks == 0 ? std::max(ranks, 4u) : options.blocks;
  if (blocks < ranks) {
    return UsageError{base::Refusal(
        "--blocks", "at least one for each of " + std::to_string(ranks) + " ranks", std::to_string(blocks))};
  }
  stages.microbatches = options.microbatches == 0 ? kDefaultMicrobatches : options.microbatches;
  for (std::uint32_t rank = 0; rank <= ranks; ++rank) stages.borders.push_back(blocks * rank / ranks);
  for (const auto& [given, flag, times] :
       {std::tuple{&options.block_forward_ms, "--block-forward-ms", &stages.forward_ms},
        std::tuple{&options.block_backward_ms, "--block-backward-ms", &stages.backward_ms}}) {
    auto found = TimesOf(*given, blocks, flag);
    if (const auto* error = std::get_if<UsageError>(&found)) return *error;
    *times = std::get<std::vector<double>>(std::move(found));
  }
  return stages;
}

std::variant<Stages, UsageError> StagesOf(const Options& options, std::uint32_t ranks) {
  if (options.plan.empty()) return EvenStages(options, ranks);
  std::ifstream file(options.plan, std::ios::binary);
  if (!file) return UsageError{"--plan=" + options.plan + ": " + std::strerror(errno)};
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto stages = ReadPlan(text, options.plan, ranks);
  const Stages* plan = std::get_if<Stages>(&stages);
  if (plan != nullptr && plan->sliced > 0 && options.batch < 2)
    return UsageError{base::Refusal("--batch", "at least 2, as the plan halves micro-batches", "1")};
  return stages;
}

std::uint64_t StagesDigest(const Stages& stages) {
  std::string bytes;
  Append(&bytes, stages.kind);
  Append(&bytes, stages.microbatches);
  Append(&bytes, stages.sliced);
  for (const std::uint32_t border : stages.borders) Append(&bytes, border);
  return Digest(bytes.data(), bytes.size());
}

std::vector<pipeline::Operation> OrderOf(const Stages& stages, std::uint32_t rank) {
  const pipeline::Shape shape{stages.kind, static_cast<int>(stages.ranks()), 1,
                              static_cast<int>(stages.microbatches), static_cast<int>(stages.sliced)};
  return pipeline::OrdersOf(shape)[rank];
}

std::uint32_t SlotsOf(const std::vector<pipeline::Operation>& order) {
  std::uint32_t kept = 0, most = 1;
  for (const pipeline::Operation& operation : order) {
    if (!operation.forward) {
      --kept;
    } else if (operation.half != pipeline::Half::kSecond) {
      most = std::max(most, ++kept);
    }
  }
  return most;
}

double ForwardNs(const Stages& stages, std::uint32_t block, pipeline::Half half) {
  const double whole = stages.forward_ms[block] * 1e6;
  return half == pipeline::Half::kWhole ? whole : whole / 2 * (1 + stages.slice_cost);
}

}  // namespace crossover::trainer

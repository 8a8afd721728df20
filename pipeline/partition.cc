#include "pipeline/partition.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <utility>

namespace crossover::pipeline {
namespace {

using Borders = std::vector<std::size_t>;

constexpr double kNsPerSecond = 1e9;

// Returns the number of ways to cut `blocks` into `chunks`, or `most` + 1 if there are more.
std::int64_t Divisions(std::size_t blocks, std::size_t chunks, std::int64_t most) {
  // There are as many ways to choose the cuts as to choose where no cut is.
  const std::size_t chosen = std::min(chunks - 1, blocks - chunks);
  double ways = 1;
  for (std::size_t i = 1; i <= chosen; ++i) {
    ways = ways * static_cast<double>(blocks - i) / static_cast<double>(i);
    if (ways > static_cast<double>(most) * 2) return most + 1;
  }
  return std::llround(ways);
}

// Kept holds how many micro-batches the chunks of a device keep, chunk by chunk, at each time when that may
// be most.
using Kept = std::set<std::vector<int>>;

// Returns that for a device with this order. It is most when a backward pass follows a forward pass.
Kept KeptBy(const Shape& shape, const std::vector<Operation>& order) {
  Kept kept;
  std::vector<int> now(static_cast<std::size_t>(shape.chunks_per_device), 0);
  bool forward = false;  // the operation before
  for (const Operation& operation : order) {
    if (forward && !operation.forward) kept.insert(now);
    forward = operation.forward;
    now[static_cast<std::size_t>(operation.chunk / shape.devices)] += forward ? 1 : -1;
  }
  return kept;
}

// A Score orders divisions: the less memory is lacking, then the shorter, then the more even, the better.
struct Score {
  double lacks = 0;  // bytes, of all devices
  Time time = 0;
  Time longest = 0;   // chunk
  double uneven = 0;  // sum of the squares of the chunks' times
  auto operator<=>(const Score&) const = default;
};

// An Evaluator scores divisions of one problem. It keeps sums over the first blocks, so that a chunk's are a
// difference.
class Evaluator {
 public:
  explicit Evaluator(const Problem& problem)
      : problem_(problem), shape_(problem.shape()), orders_(OrdersOf(shape_)) {
    for (const Block& block : problem.blocks) {
      forward_.push_back(forward_.back() + block.forward);
      backward_.push_back(backward_.back() + block.backward);
      stored_.push_back(stored_.back() + block.stored_bytes);
      parameters_.push_back(parameters_.back() + block.parameter_bytes);
    }
    for (std::size_t device = 0; device < orders_.size(); ++device) {
      const bool limited = problem.devices[device].memory > 0;
      kept_.push_back(limited ? KeptBy(shape_, orders_[device]) : Kept());
    }
  }

  const Device& DeviceOf(std::size_t chunk) const {
    return problem_.devices[static_cast<std::size_t>(shape_.device_of(static_cast<int>(chunk)))];
  }

  Time Forward(std::size_t chunk, std::size_t begin, std::size_t end) const {
    return Scaled(forward_[end] - forward_[begin], DeviceOf(chunk).speed);
  }
  Time Backward(std::size_t chunk, std::size_t begin, std::size_t end) const {
    return Scaled(backward_[end] - backward_[begin], DeviceOf(chunk).speed);
  }
  Time Both(std::size_t chunk, std::size_t begin, std::size_t end) const {
    return Forward(chunk, begin, end) + Backward(chunk, begin, end);
  }

  Costs CostsAt(const Borders& borders) const {
    Costs costs;
    costs.slice_cost = problem_.slice_cost;
    for (std::size_t chunk = 0; chunk + 1 < borders.size(); ++chunk) {
      costs.forward.push_back(Forward(chunk, borders[chunk], borders[chunk + 1]));
      costs.backward.push_back(Backward(chunk, borders[chunk], borders[chunk + 1]));
      if (chunk + 2 == borders.size()) break;
      const std::uint64_t bytes = problem_.blocks[borders[chunk + 1] - 1].output_bytes;
      const Transfer transfer = TransferOf(DeviceOf(chunk), bytes);
      costs.ahead.push_back(transfer);
      costs.back.push_back(transfer);
    }
    return costs;
  }

  // Returns how many bytes the devices lack for this division.
  double LacksAt(const Borders& borders) const {
    double lacks = 0;
    for (std::size_t device = 0; device < kept_.size(); ++device) {
      const auto has = static_cast<double>(problem_.devices[device].memory);
      if (has > 0) lacks += std::max(0.0, NeedsAt(device, borders) - has);
    }
    return lacks;
  }

  Score At(const Borders& borders) {
    const Costs costs = CostsAt(borders);
    Score score{.lacks = LacksAt(borders), .time = Simulate(shape_, orders_, costs)};
    for (std::size_t chunk = 0; chunk < costs.forward.size(); ++chunk) {
      const Time both = costs.forward[chunk] + costs.backward[chunk];
      score.longest = std::max(score.longest, both);
      score.uneven += static_cast<double>(both) * static_cast<double>(both);
    }
    operations_ += 2 * std::int64_t{shape_.chunks()} * shape_.microbatches;
    return score;
  }

  // Returns the number of operations that were simulated.
  std::int64_t operations() const { return operations_; }

 private:
  static Time Scaled(Time time, double speed) {
    return static_cast<Time>(std::llround(static_cast<double>(time) / speed));
  }
  static Transfer TransferOf(const Device& device, std::uint64_t bytes) {
    if (device.bytes_per_second <= 0) return {device.latency, 0};
    const double ns = static_cast<double>(bytes) / device.bytes_per_second * kNsPerSecond;
    return {device.latency, static_cast<Time>(std::llround(ns))};
  }
  // Returns the most bytes that a device needs at a time. REQUIRES: its memory is limited.
  double NeedsAt(std::size_t device, const Borders& borders) const {
    double parameters = 0;
    std::vector<double> stored;  // by chunk of the device, of one micro-batch
    for (std::size_t chunk = device; chunk + 1 < borders.size(); chunk += kept_.size()) {
      const std::size_t begin = borders[chunk], end = borders[chunk + 1];
      parameters += static_cast<double>(parameters_[end] - parameters_[begin]);
      stored.push_back(static_cast<double>(stored_[end] - stored_[begin]));
    }
    double most = 0;
    for (const std::vector<int>& kept : kept_[device])
      most = std::max(most, std::inner_product(kept.begin(), kept.end(), stored.begin(), 0.0));
    return problem_.state_factor * parameters + most;
  }

  const Problem& problem_;
  Shape shape_;
  std::vector<std::vector<Operation>> orders_;
  std::vector<Kept> kept_;  // by device; empty if its memory has no limit
  std::vector<Time> forward_{0}, backward_{0};
  std::vector<std::uint64_t> stored_{0}, parameters_{0};
  std::int64_t operations_ = 0;
};

// Sets `borders` to a division whose chunks take at most `most`, and returns whether there is one. A chunk
// may end behind a block if some end of the chunk before is near enough; the nearest one decides. It does not
// do to make each chunk as long as it may be: a slow device could then have to begin with a long block.
bool Fill(const Evaluator& evaluator, std::size_t blocks, std::size_t chunks, Time most, Borders* borders) {
  std::vector<std::vector<char>> ends(chunks + 1, std::vector<char>(blocks + 1, 0));
  ends[0][0] = 1;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    std::optional<std::size_t> nearest;
    for (std::size_t end = 1; end <= blocks; ++end) {
      if (ends[chunk][end - 1] != 0) nearest = end - 1;
      ends[chunk + 1][end] = nearest && evaluator.Both(chunk, *nearest, end) <= most ? 1 : 0;
    }
  }
  if (ends[chunks][blocks] == 0) return false;
  borders->assign(chunks + 1, blocks);
  for (std::size_t chunk = chunks; chunk-- > 0;) {
    std::size_t begin = (*borders)[chunk + 1] - 1;
    while (ends[chunk][begin] == 0) --begin;
    (*borders)[chunk] = begin;
  }
  return true;
}

Borders Balanced(const Evaluator& evaluator, const Problem& problem) {
  const std::size_t blocks = problem.blocks.size(), chunks = static_cast<std::size_t>(problem.chunks());
  Time low = 0, high = 0;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk)
    high = std::max(high, evaluator.Both(chunk, 0, blocks));
  Borders borders;
  while (low < high) {
    const Time middle = low + (high - low) / 2;
    if (Fill(evaluator, blocks, chunks, middle, &borders)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  Fill(evaluator, blocks, chunks, high, &borders);
  return borders;
}

// A Search keeps the best division that it has seen.
class Search {
 public:
  explicit Search(const Problem& problem) : problem_(problem), evaluator_(problem) {}

  void TryAll() {
    Borders borders(static_cast<std::size_t>(problem_.chunks()) + 1);
    std::iota(borders.begin(), borders.end(), std::size_t{0});
    borders.back() = problem_.blocks.size();
    do {
      Take(borders, evaluator_.At(borders));
    } while (Next(&borders));
  }

  // Improves divisions until the budget is spent: the usual ones first, then in turn the best one with some
  // borders moved at random, and one with all of them.
  void Improve() {
    Climb(Balanced(evaluator_, problem_));
    Climb(EvenBorders(problem_));
    std::mt19937 random(1);
    for (int round = 0; round < kMostRounds && !Spent(); ++round) {
      const std::size_t inner = best_.size() - 2;
      Climb(Shaken(best_, round % 2 == 0 ? 1 + inner / 4 : 4 * inner, &random));
    }
  }

  const Borders& best() const { return best_; }
  const Score& score() const { return score_; }

 private:
  static constexpr int kMostRounds = 200;
  static constexpr int kLongestStep = 6;  // blocks

  bool Spent() const { return evaluator_.operations() >= problem_.most_operations; }

  void Take(const Borders& borders, const Score& score) {
    if (!best_.empty() && score >= score_) return;
    best_ = borders;
    score_ = score;
  }

  // Makes the next division in the order of their borders. Returns false after the last one.
  static bool Next(Borders* borders) {
    const std::size_t chunks = borders->size() - 1, blocks = borders->back();
    for (std::size_t i = chunks; i-- > 1;) {
      if ((*borders)[i] >= blocks - (chunks - i)) continue;
      ++(*borders)[i];
      for (std::size_t j = i + 1; j < chunks; ++j) (*borders)[j] = (*borders)[j - 1] + 1;
      return true;
    }
    return false;
  }

  static bool IsDivision(const Borders& borders) {
    return std::ranges::adjacent_find(borders, std::greater_equal<>()) == borders.end();
  }

  // Moves borders as long as that makes the division better: runs of neighbouring ones by one block, and
  // single ones by several. To move a run means that the chunk before it gets a block and the one behind it
  // loses one, or the reverse.
  void Climb(Borders borders) {
    Score score = evaluator_.At(borders);
    for (bool better = true; better && !Spent();) {
      better = false;
      for (std::size_t from = 1; from + 1 < borders.size(); ++from) {
        for (std::size_t to = from; to + 1 < borders.size() && !Spent(); ++to) {
          for (const int step : {1, -1}) better |= Move(from, to, step, &borders, &score);
        }
        for (int step = 2; step <= kLongestStep && !Spent(); ++step) {
          better |= Move(from, from, step, &borders, &score);
          better |= Move(from, from, -step, &borders, &score);
        }
      }
    }
    Take(borders, score);
  }

  bool Move(std::size_t from, std::size_t to, int step, Borders* borders, Score* score) {
    Borders moved = *borders;
    for (std::size_t i = from; i <= to; ++i) moved[i] += static_cast<std::size_t>(step);
    if (moved[to] >= problem_.blocks.size() || !IsDivision(moved)) return false;
    const Score found = evaluator_.At(moved);
    if (found >= *score) return false;
    *borders = std::move(moved);
    *score = found;
    return true;
  }

  static Borders Shaken(const Borders& best, std::size_t moves, std::mt19937* random) {
    Borders shaken = best;
    const std::size_t inner = best.size() - 2;
    for (std::size_t n = 0; inner > 0 && n < moves; ++n) {
      const std::size_t border = 1 + (*random)() % inner;
      const std::size_t low = shaken[border - 1] + 1, high = shaken[border + 1] - 1;
      shaken[border] = low + (*random)() % (high - low + 1);
    }
    return shaken;
  }

  const Problem& problem_;
  Evaluator evaluator_;
  Borders best_;
  Score score_;
};

// Returns how many operations the simulation of one division has.
std::int64_t OperationsOf(const Problem& problem) {
  return 2 * std::int64_t{problem.chunks()} * problem.microbatches;
}

// Returns a time, in ns, that no division of the problem exceeds, nor the times of all blocks together.
double MostOf(const Problem& problem) {
  double compute = 0, bytes = 0, speed = 1, link = 0, latency = 0;
  for (const Block& block : problem.blocks) {
    compute += static_cast<double>(block.forward) + static_cast<double>(block.backward);
    bytes += static_cast<double>(block.output_bytes);
  }
  for (const Device& device : problem.devices) {
    speed = std::min(speed, device.speed);
    latency += static_cast<double>(device.latency);
    if (device.bytes_per_second > 0) link = std::max(link, kNsPerSecond / device.bytes_per_second);
  }
  // The halves of a forward pass have a latency each, and a device has a link for each of its chunks.
  latency *= 3.0 * problem.chunks_per_device;
  const double once = compute / speed * (1 + problem.slice_cost) + 2 * bytes * link + latency;
  return once * (problem.microbatches + problem.chunks());
}

}  // namespace

std::string FaultOf(const Problem& problem) {
  if (problem.devices.empty()) return "expected at least one device";
  if (const std::string fault = FaultOf(problem.shape()); !fault.empty()) return fault;
  const auto chunks = static_cast<std::size_t>(problem.chunks());
  if (problem.blocks.size() < chunks)
    return "blocks: expected at least one block for each of the " + std::to_string(chunks) + " stages, got " +
           std::to_string(problem.blocks.size());
  for (const Device& device : problem.devices) {
    if (!(device.speed > 0)) return "expected devices with a speed above 0";
  }
  constexpr std::int64_t kMostPasses = 4'000'000;
  if (std::int64_t{problem.chunks()} * problem.microbatches > kMostPasses)
    return "stages and micro-batches: expected at most " + std::to_string(kMostPasses) +
           " passes of a micro-batch through a stage, got " +
           std::to_string(std::int64_t{problem.chunks()} * problem.microbatches);
  constexpr double kMostNs = 1e18;  // thirty years
  if (!(MostOf(problem) < kMostNs)) return "expected an iteration of less than thirty years";
  return "";
}

Costs CostsOf(const Problem& problem, const std::vector<std::size_t>& borders) {
  return Evaluator(problem).CostsAt(borders);
}

double LackingBytes(const Problem& problem, const std::vector<std::size_t>& borders) {
  return Evaluator(problem).LacksAt(borders);
}

bool Fits(const Problem& problem, const std::vector<std::size_t>& borders) {
  return LackingBytes(problem, borders) == 0;
}

Time TimeOf(const Problem& problem, const std::vector<std::size_t>& borders) {
  const Score score = Evaluator(problem).At(borders);
  return score.lacks == 0 ? score.time : kNever;
}

std::optional<Division> Divide(const Problem& problem) {
  Search search(problem);
  const auto chunks = static_cast<std::size_t>(problem.chunks());
  const std::int64_t affordable = problem.most_operations / OperationsOf(problem);
  const std::int64_t most = std::min(problem.most_to_try, affordable);
  if (Divisions(problem.blocks.size(), chunks, most) <= most) {
    search.TryAll();
  } else {
    search.Improve();
  }
  if (search.score().lacks > 0) return std::nullopt;
  return Division{.borders = search.best(), .time = search.score().time};
}

Division Slice(const Problem& problem, Division division) {
  if (problem.kind != Kind::kOneForwardOneBackward) return division;
  const Costs costs = CostsOf(problem, division.borders);
  const std::int64_t most = std::min(std::int64_t{problem.microbatches},
                                     std::max(problem.most_operations / OperationsOf(problem),
                                              static_cast<std::int64_t>(problem.devices.size())));
  for (int sliced = 1; sliced <= most; ++sliced) {
    const Shape shape = problem.shape(sliced);
    const Time time = Simulate(shape, OrdersOf(shape), costs);
    if (time >= division.time) continue;
    division.sliced = sliced;
    division.time = time;
  }
  return division;
}

std::vector<std::size_t> EvenBorders(const Problem& problem) {
  const auto chunks = static_cast<std::size_t>(problem.chunks());
  Borders borders;
  for (std::size_t chunk = 0; chunk <= chunks; ++chunk)
    borders.push_back(problem.blocks.size() * chunk / chunks);
  return borders;
}

std::vector<std::size_t> BalancedBorders(const Problem& problem) {
  return Balanced(Evaluator(problem), problem);
}

}  // namespace crossover::pipeline

#include "pipeline/simulate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>

namespace crossover::pipeline {
namespace {

// A Run keeps when operations ended, while they are simulated.
class Run {
 public:
  Run(const Shape& shape, const Costs& costs)
      : shape_(shape),
        costs_(costs),
        forward_(Index(shape.chunks(), 0), {kNever, kNever}),
        backward_(Index(shape.chunks(), 0), kNever) {}

  // Returns when what the operation needs is there, or nothing while that is not known.
  std::optional<Time> ReadyAt(const Operation& operation) const {
    const int chunk = operation.chunk, m = operation.microbatch;
    if (operation.forward) {
      if (chunk == 0) return 0;
      const std::size_t half = operation.half == Half::kFirst ? 0 : 1;
      const Transfer& transfer = costs_.ahead[static_cast<std::size_t>(chunk - 1)];
      return After(forward_[Index(chunk - 1, m)][half], transfer, operation.half);
    }
    if (chunk == shape_.chunks() - 1) return After(forward_[Index(chunk, m)][1], {}, Half::kWhole);
    return After(backward_[Index(chunk + 1, m)], costs_.back[static_cast<std::size_t>(chunk)], Half::kWhole);
  }

  Time Takes(const Operation& operation) const {
    const auto chunk = static_cast<std::size_t>(operation.chunk);
    if (!operation.forward) return costs_.backward[chunk];
    const Time whole = costs_.forward[chunk];
    if (operation.half == Half::kWhole) return whole;
    return static_cast<Time>(std::llround(static_cast<double>(whole) / 2 * (1 + costs_.slice_cost)));
  }

  void Ended(const Operation& operation, Time at) {
    const std::size_t index = Index(operation.chunk, operation.microbatch);
    if (!operation.forward) {
      backward_[index] = at;
    } else if (operation.half == Half::kFirst) {
      forward_[index][0] = at;
    } else {
      forward_[index][1] = at;
    }
  }

 private:
  std::size_t Index(int chunk, int microbatch) const {
    return static_cast<std::size_t>(chunk) * static_cast<std::size_t>(shape_.microbatches) +
           static_cast<std::size_t>(microbatch);
  }

  static std::optional<Time> After(Time end, const Transfer& transfer, Half half) {
    if (end == kNever) return std::nullopt;
    return end + transfer.fixed + (half == Half::kWhole ? transfer.whole : transfer.whole / 2);
  }

  const Shape& shape_;
  const Costs& costs_;
  std::vector<std::array<Time, 2>> forward_;  // ends of the first half, and of the second half or the whole
  std::vector<Time> backward_;
};

}  // namespace

Time Simulate(const Shape& shape, const std::vector<std::vector<Operation>>& orders, const Costs& costs,
              std::vector<Span>* spans) {
  Run run(shape, costs);
  std::vector<std::size_t> next(orders.size(), 0);
  std::vector<Time> clock(orders.size(), 0);
  std::size_t left = 0;
  for (const auto& order : orders) left += order.size();
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t device = 0; device < orders.size(); ++device) {
      while (next[device] < orders[device].size()) {
        const Operation& operation = orders[device][next[device]];
        const std::optional<Time> ready = run.ReadyAt(operation);
        if (!ready) break;
        const Time begin = std::max(clock[device], *ready);
        clock[device] = begin + run.Takes(operation);
        run.Ended(operation, clock[device]);
        if (spans != nullptr) spans->push_back({operation, static_cast<int>(device), begin, clock[device]});
        ++next[device];
        --left;
        moved = true;
      }
    }
  }
  return left > 0 || clock.empty() ? kNever : *std::max_element(clock.begin(), clock.end());
}

}  // namespace crossover::pipeline

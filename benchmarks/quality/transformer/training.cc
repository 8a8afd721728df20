#include "benchmarks/quality/transformer/training.h"

#include <algorithm>
#include <random>

#include "benchmarks/quality/transformer/model.h"
#include "examples/reductions/threads.h"
#include "shrink/codec/draw.h"

namespace crossover::transformer {
namespace {

using reductions::Floats;
using reductions::Reducer;
using reductions::Reduction;
using reductions::ThreadRank;

constexpr std::uint64_t kHeldOut = ~std::uint64_t{0};
constexpr std::size_t kHeldOutSequences = 128;

// Returns what follows a token by one of the two tables.
std::uint8_t Follower(std::size_t table, std::uint8_t token) {
  return static_cast<std::uint8_t>(shrink::Mix(1 + 2 * token + table) % kTokens);
}

// Returns `count` sequences, which depend on `key` alone.
std::vector<Sequence> Draw(std::uint64_t key, std::size_t count) {
  std::mt19937_64 random(shrink::Mix(key));
  std::vector<Sequence> sequences(count);
  for (Sequence& sequence : sequences) {
    for (std::size_t t = 0; t < sequence.size(); ++t) {
      const std::size_t table = random() % 2;
      sequence[t] = t <= table ? static_cast<std::uint8_t>(random() % kTokens)
                               : Follower(table, sequence[t - 1 - table]);
    }
  }
  return sequences;
}

// A Worker is one rank.
class Worker {
 public:
  Worker(const Setting& setting, const ThreadRank& rank)
      : setting_(setting),
        rank_(rank),
        reducer_({setting.reduction, setting.fault, setting.seed, kDensity, Borders()}, rank.all.get(),
                 rank.groups),
        parameters_(InitialParameters(setting.seed)) {}

  void Step(std::uint64_t iteration) {
    const std::uint64_t call = iteration * kRanks + rank_.groups.seat.rank;
    Floats gradients(parameters_.size(), 0);
    Loss(parameters_, Draw((setting_.seed << 32) + call, kBatch), gradients);
    if (setting_.reduction == Reduction::kSum) {
      Sum(gradients);
    } else {
      reducer_.Reduce(gradients, iteration);
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i] -= static_cast<float>(setting_.learning_rate) * gradients[i] / kRanks;
    }
  }
  double HeldOutLoss() const { return Loss(parameters_, Draw(kHeldOut, kHeldOutSequences), {}); }
  const Floats& parameters() const { return parameters_; }

 private:
  static constexpr double kDensity = 0.05;

  void Sum(Floats& gradients) {
    Floats all(kRanks * gradients.size());
    rank_.all->AllGather(gradients, all);
    std::ranges::fill(gradients, 0.0f);
    for (std::size_t i = 0; i < all.size(); ++i) gradients[i % gradients.size()] += all[i];
  }

  const Setting& setting_;
  const ThreadRank& rank_;
  Reducer reducer_;
  Floats parameters_;
};

}  // namespace

Outcome Train(const Setting& setting) {
  reductions::World world({kRanks, 1});
  std::vector<Worker> workers;
  for (std::size_t r = 0; r < kRanks; ++r) workers.emplace_back(setting, world.rank(r));
  Outcome outcome;
  outcome.first_loss = workers[0].HeldOutLoss();
  world.Run([&](ThreadRank& rank) {
    for (std::uint64_t i = 0; i < setting.iterations; ++i) workers[rank.groups.seat.rank].Step(i);
  });
  outcome.loss = workers[0].HeldOutLoss();
  outcome.equal = std::ranges::all_of(workers, [&](const Worker& worker) {
    return std::ranges::equal(worker.parameters(), workers[0].parameters(), {}, shrink::BitsOf,
                              shrink::BitsOf);
  });
  return outcome;
}

}  // namespace crossover::transformer

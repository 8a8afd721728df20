#include "tests/unit/turn/gap_programs.h"

#include <algorithm>
#include <random>
#include <utility>

namespace crossover::turn::test {
namespace {

// Lowers the items of one rank, one after the other.
class Lowering {
 public:
  Lowering(const GapRank& rank, GapRule rule, std::uint32_t choices)
      : rank_(rank), rule_(rule), choices_(choices) {}

  GapSteps Run() {
    for (const GapItem& item : rank_.items) Add(item);
    End();
    return std::move(steps_);
  }

 private:
  void Add(const GapItem& item) {
    switch (item.kind) {
      case GapItem::Kind::kCompute:
        Begin();
        steps_.push_back({.kind = GapStep::Kind::kCompute});
        return;
      case GapItem::Kind::kCall:
        steps_.push_back({.kind = GapStep::Kind::kCall, .collective = item.collective});
        return;
      case GapItem::Kind::kWait:
        if (rule_ != GapRule::kAfterWaits && !Keeps(waits_++)) EndAt(item);
        steps_.push_back({.kind = GapStep::Kind::kWait, .collective = item.collective});
        if (rule_ == GapRule::kAfterWaits) End();
        return;
    }
  }

  bool Keeps(int wait) const {
    return rule_ == GapRule::kAllKeep || (rule_ == GapRule::kSomeKeep && rank_.job == rank_.gpu) ||
           (rule_ == GapRule::kEachChoosesToKeep && (choices_ >> wait & 1) != 0);
  }

  void Begin() {
    if (std::exchange(in_turn_, true)) return;
    turn_ = NextTurn(turn_);
    steps_.push_back({.kind = GapStep::Kind::kAcquire, .turn = turn_});
  }

  void End() {
    if (std::exchange(in_turn_, false)) steps_.push_back({.kind = GapStep::Kind::kRelease, .turn = turn_});
  }

  // Ends the turn in front of the wait, or in front of the call if the wait follows it at once.
  void EndAt(const GapItem& wait) {
    if (!in_turn_) return;
    const bool at_once = steps_.back().kind == GapStep::Kind::kCall &&
                         steps_.back().collective == wait.collective && rule_ != GapRule::kBehindTheCall;
    if (!at_once) return End();
    const GapStep call = steps_.back();
    steps_.pop_back();
    End();
    steps_.push_back(call);
  }

  const GapRank& rank_;
  const GapRule rule_;
  const std::uint32_t choices_;
  GapSteps steps_;
  TurnNumber turn_ = 0;
  bool in_turn_ = false;
  int waits_ = 0;
};

// Draws one program. Ranks of a job call its collectives in one order, except for neighbours that are on
// different streams and have no wait between them.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  GapProgram Run() {
    program_.gpus = Below(2, GapProgram::kMaxGpus + 1);
    const int jobs = Below(2, GapProgram::kMaxJobs + 1);
    for (int job = 0; job < jobs; ++job) AddJob(job);
    return std::move(program_);
  }

 private:
  static constexpr int kMostOfAJob = GapProgram::kMaxCollectives / GapProgram::kMaxJobs;

  int Below(int from, int end) { return std::uniform_int_distribution(from, end - 1)(random_); }
  bool Chance(double p) { return std::bernoulli_distribution(p)(random_); }

  void AddJob(int job) {
    std::vector<GapRank> ranks(static_cast<std::size_t>(program_.gpus));
    std::vector<std::vector<GapItem>> waits(ranks.size());  // that are still to come
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      ranks[i].gpu = static_cast<std::uint8_t>(i);
      ranks[i].job = static_cast<std::uint8_t>(job);
    }
    const int count = Below(2, kMostOfAJob + 1);
    for (int i = 0; i < count; ++i) {
      const int collective = static_cast<int>(program_.collectives.size());
      program_.collectives.push_back({static_cast<std::uint8_t>(Below(0, 3))});
      const std::vector<bool> group = DrawGroup();
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        if (Chance(0.6)) ranks[r].items.push_back(Compute());
        if (!group[r]) continue;
        ranks[r].items.push_back(Call(collective));
        CrossCalls(&ranks[r].items);
        waits[r].push_back(WaitFor(collective));
        if (Chance(0.3)) ranks[r].items.push_back(Compute());
        while (!waits[r].empty() && Chance(0.7)) {
          ranks[r].items.push_back(waits[r].front());
          waits[r].erase(waits[r].begin());
        }
      }
    }
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ranks[r].items.insert(ranks[r].items.end(), waits[r].begin(), waits[r].end());
      ranks[r].items.push_back(Compute());
      program_.ranks.push_back(std::move(ranks[r]));
    }
  }

  std::vector<bool> DrawGroup() {
    std::vector<bool> group(static_cast<std::size_t>(program_.gpus), Chance(0.4));
    if (group[0]) return group;
    for (std::size_t i = 0; i < group.size(); ++i) group[i] = Chance(0.6);
    while (std::count(group.begin(), group.end(), true) < 2) {
      group[static_cast<std::size_t>(Below(0, program_.gpus))] = true;
    }
    return group;
  }

  void CrossCalls(std::vector<GapItem>* items) {
    if (items->size() < 2) return;
    GapItem& last = (*items)[items->size() - 1];
    GapItem& before = (*items)[items->size() - 2];
    if (before.kind != GapItem::Kind::kCall || !Chance(0.5)) return;
    if (program_.collectives[last.collective].stream == program_.collectives[before.collective].stream)
      return;
    std::swap(last, before);
  }

  std::mt19937_64 random_;
  GapProgram program_;
};

}  // namespace

GapSteps Lower(const GapRank& rank, GapRule rule, std::uint32_t choices) {
  return Lowering(rank, rule, choices).Run();
}

GapProgram AlikeRanks(int jobs, int gpus, const std::vector<GapItem>& items) {
  GapProgram program;
  program.gpus = gpus;
  int of_a_job = 0;
  for (const GapItem& item : items) {
    if (item.kind != GapItem::Kind::kCompute) of_a_job = std::max(of_a_job, item.collective + 1);
  }
  program.collectives.resize(static_cast<std::size_t>(of_a_job * jobs));
  for (int job = 0; job < jobs; ++job) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      GapRank rank{static_cast<std::uint8_t>(gpu), static_cast<std::uint8_t>(job), items};
      for (GapItem& item : rank.items) {
        item.collective = static_cast<std::uint8_t>(item.collective + job * of_a_job);
      }
      program.ranks.push_back(std::move(rank));
    }
  }
  return program;
}

GapProgram DrawProgram(std::uint64_t seed) { return Draw(seed).Run(); }

}  // namespace crossover::turn::test

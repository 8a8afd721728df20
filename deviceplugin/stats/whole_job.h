// Estimates what the iterations of a job would take alone, from the turns of its ranks on this machine.
//
// Alone, all ranks begin an iteration together, and its collective begins when the slowest rank comes to it.
// So an iteration takes as long as the longest turn of any rank plus the shortest absence of any rank:
//
//   rank 0   |==== turn ====|------ absence ------|
//   rank 1   |======== longest turn =======|--c---|      c: the shortest absence, which is the collective
//   alone    |<------- one iteration alone ------>|
//
// Neither depends on how long ranks wait for their turns. If turns vary from rank to rank and from one
// iteration to the next (jitter, stragglers), the mean of the longest turn is well above the mean turn. A
// single GPU cannot show that.
//
// Some ranks of a job may be on other machines. This estimates how much longer they make the iteration from
// the turns of the ranks here, as if all ranks were alike and independent. A quarter of that estimate counts
// as error.
//
// Pure: the caller passes the times. Not thread-safe. Bounded.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "common/base/clock.h"
#include "deviceplugin/stats/precision.h"
#include "turn/ops.h"
#include "turn/timing_model.h"

namespace crossover::deviceplugin {

class WholeJob {
 public:
  // RecentSteps has the same window: both should cover the same iterations.
  static constexpr turn::Time kWindow = 10 * base::kNsPerSecond;
  static constexpr std::size_t kMost = 512;  // iterations kept
  static constexpr std::size_t kFew = 64;    // iterations kept however old they are
  static constexpr std::size_t kLeast = 8;   // whole iterations before there is a result
  static constexpr turn::Time kStall = 4;    // times the median: left out, as in RecentSteps
  static constexpr std::size_t kMostRanks = 64;
  // Turns beside other jobs differ from turns alone by about this part: collectives of other jobs occupy SMs,
  // and the jobs share links.
  static constexpr double kInCompany = 0.03;

  struct Part {
    std::uint64_t rank = 0;  // any number that identifies the rank
    std::uint32_t iteration = 0;
    std::uint32_t position = 0;  // of the turn in its iteration
    std::uint32_t turns = 1;     // turns of an iteration
  };
  // NoteTurn takes a turn with all its stretches. NoteAway takes how long the rank stayed away after that
  // turn.
  void NoteTurn(const Part& part, turn::Time turn, turn::Time now);
  void NoteAway(const Part& part, turn::Time away, turn::Time now);

  // Returns the time of an iteration alone. `ranks` is the number of ranks of the whole job; 0 means
  // unknown, and then all are taken to be here. The error includes kInCompany. Returns nothing until kLeast
  // iterations have been seen whole.
  std::optional<Precise> Alone(std::uint32_t ranks) const;
  // Returns by how much one iteration alone differs from the mean (the standard deviation), relative to the
  // mean. `ranks` and an empty result are as for Alone.
  std::optional<double> Spread(std::uint32_t ranks) const;

 private:
  struct Iteration {
    std::uint32_t number = 0;
    turn::Time at = 0;
    std::uint32_t turns = 1;
    std::array<turn::Time, turn::kMaxTurns> longest = {};
    std::array<turn::Time, turn::kMaxTurns> shortest = {};  // absence
    std::array<std::uint32_t, turn::kMaxTurns> turns_seen = {};
    std::array<std::uint32_t, turn::kMaxTurns> aways_seen = {};
    std::map<std::uint64_t, turn::Time> computed = {};  // by rank
  };
  struct Sums;
  Iteration* At(const Part& part, turn::Time now);
  // Returns whether there is room for this rank in the iteration. The number of ranks is limited, because
  // clients name their ranks themselves.
  static bool Takes(const Iteration& iteration, std::uint64_t rank);
  std::size_t RanksHere() const;
  Sums Sum() const;

  std::deque<Iteration> iterations_;
};

}  // namespace crossover::deviceplugin

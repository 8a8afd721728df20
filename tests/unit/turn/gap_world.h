// Executes the ranks of a GapProgram on the shipped operations, with one turnstile for each GPU.
//
// A rank executes one operation of turn::Acquire or turn::Release at a time, and each other step at once. A
// pass of the arbiter (turn::Collect and turn::Token::Step) is one step here: explorer.h lets clients go on
// between the accesses of a pass, on one turnstile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/turn/gap_programs.h"
#include "turn/token.h"

namespace crossover::turn::test {

struct GapOptions {
  GapRule rule = GapRule::kAtWaits;
  std::vector<std::uint32_t> choices = {};  // by rank, for kEachChoosesToKeep
  // A release waits until all collectives that its rank has called before it have ended, as on a GPU whose
  // streams share one hardware channel.
  bool channels = false;
  std::uint8_t kills = 0;    // at most so many ranks are killed, at any instant
  bool late_writes = false;  // the write that a killed rank had in flight lands later
};

struct GapClient {
  std::uint8_t step = 0;
  std::uint8_t op = 0;         // of the step's list
  std::uint8_t successor = 0;  // of the release that has begun
  bool alive = true;
  bool late = false;
  std::uint32_t open = 0;
  friend bool operator==(const GapClient&, const GapClient&) = default;
};

struct GapGpu {
  std::uint32_t word[GapProgram::kMaxJobs][4] = {};
  Token token;
  std::uint8_t members = 0;
};

// A GapWorld is one state. It is small, since an explorer keeps millions.
struct GapWorld {
  static constexpr int kMaxRanks = GapProgram::kMaxGpus * GapProgram::kMaxJobs;
  GapGpu gpu[GapProgram::kMaxGpus];
  GapClient client[kMaxRanks];
  std::uint8_t kills = 0;
  bool excused = false;  // a late write: overlap is then possible
};

// A GapModel is a program with its options. It does not change. Ranks are indices of GapProgram::ranks.
class GapModel {
 public:
  GapModel(const GapProgram& program, const GapOptions& options);

  int ranks() const { return static_cast<int>(program_.ranks.size()); }
  int gpus() const { return program_.gpus; }
  const GapOptions& options() const { return options_; }
  const GapRank& RankOf(int rank) const { return program_.ranks[static_cast<std::size_t>(rank)]; }
  GapWorld Start() const;

  // Returns the collectives that have ended, with one bit each.
  std::uint64_t Ended(const GapWorld& world) const;
  // Returns whether a rank lives, has steps left and can execute the next one. `ended` is Ended(world).
  bool CanStep(const GapWorld& world, int rank, std::uint64_t ended) const;
  // Returns whether the next step fixes the slot to which the rank hands over.
  bool Chooses(const GapWorld& world, int rank) const;
  // Executes the next operation. If the rank Chooses(), it hands over to `successor`; its own slot keeps the
  // token. REQUIRES: CanStep().
  void Step(GapWorld* world, int rank, SlotIndex successor) const;
  // Makes a pass of a GPU's arbiter, which wants to give the turn to the slot `want`, if there is one.
  void Pass(GapWorld* world, int gpu, std::optional<SlotIndex> want) const;

  void Kill(GapWorld* world, int rank) const;
  // Executes the write that a killed rank had in flight. REQUIRES: client.late.
  void WriteLate(GapWorld* world, int rank) const;
  // Lets the arbiter notice that a rank is dead.
  void Notice(GapWorld* world, int rank) const;

  bool Done(const GapWorld& world, int rank) const;
  // Returns whether a rank that is alive has steps left and no rank of its job was killed.
  bool Unfinished(const GapWorld& world) const;
  // Returns whether a rank waits at its gate.
  bool AtGate(const GapWorld& world, int rank) const;
  // Returns the number of ranks of one GPU that have passed their gates and have not begun to hand over.
  int InTurn(const GapWorld& world, int gpu) const;

  // Returns where each rank stands, in words.
  std::string TextOf(const GapWorld& world) const;

 private:
  struct CallOf {
    int rank = 0;
    std::uint8_t step = 0;
    std::uint64_t before = 0;  // the rank's earlier collectives on the same stream
  };
  struct Lowered {
    GapSteps steps;
    std::vector<bool> in_turn;          // in front of each step
    std::vector<std::uint64_t> called;  // the collectives called in front of each step
  };

  void LearnCalls(int rank);
  const GapStep& StepOf(const GapWorld& world, int rank) const;
  Op NextOp(const GapWorld& world, int rank) const;
  std::uint32_t& WordOf(GapWorld* world, int rank, const Op& op) const;
  void Bake(GapWorld* world, int rank, SlotIndex successor) const;

  const GapProgram program_;
  const GapOptions options_;
  std::vector<Lowered> lowered_;
  std::vector<std::vector<CallOf>> calls_;  // by collective
};

}  // namespace crossover::turn::test

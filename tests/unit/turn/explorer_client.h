// Executes the shipped operations of the explorer's clients on a World, one at a time.
#pragma once

#include "tests/unit/turn/explorer.h"
#include "tests/unit/turn/explorer_world.h"
#include "turn/signal.h"

namespace crossover::turn::test {

class ClientProgram {
 public:
  explicit ClientProgram(const ExplorerOptions& options) : options_(options) {}

  // Returns whether client `i` has passed its gate and has not begun to hand its turn over.
  bool InTurn(const World& world, SlotIndex i) const;
  // Returns whether client `i` waits, at its gate or for its signal.
  bool Waits(const World& world, SlotIndex i) const;
  // Returns whether client `i` lives, has turns left and can execute its next operation.
  bool CanStep(const World& world, SlotIndex i) const;
  // Returns whether client `i` is at the point of its turn where it hands over or comes to a yield point.
  static bool Chooses(const World& world, SlotIndex i) {
    return world.client[i].phase == Client::Phase::kTurn;
  }

  // Executes the next operation of client `i`. At the point where it Chooses() it begins its release.
  // REQUIRES: CanStep().
  void Advance(World* world, SlotIndex i) const;
  // Begins a yield point. REQUIRES: client `i` Chooses().
  void BeginYield(World* world, SlotIndex i) const;
  // Fixes the successor and the value that opens its gate. A client fixes both when it enqueues its release;
  // here that happens when the release begins. The caller tries each slot as the successor.
  void Bake(World* world, SlotIndex i, SlotIndex successor) const;

  // Returns whether the next operation of client `i` writes.
  bool Writes(const World& world, SlotIndex i) const;
  // Executes that write for a client that is dead.
  void WriteLate(World* world, SlotIndex i) const;

  // Lets the write of client `from` to the signal word of `slot` land, if there is one.
  static void Land(World* world, SlotIndex from, SlotIndex slot);

 private:
  struct OpList {
    SignalledOp op[6];
    std::uint8_t count = 0;
  };

  static TurnNumber Number(const Client& c) { return FirstStretch(c.turn) + c.yields; }
  OpList AcquireOf(SlotIndex i, TurnNumber k) const;
  OpList YieldOf(SlotIndex i, TurnNumber k) const;
  OpList ReleaseOf(SlotIndex i, const Client& c) const;
  OpList ListOf(const World& world, SlotIndex i) const;
  SignalledOp NextOp(const World& world, SlotIndex i) const;
  void Perform(World* world, SlotIndex i, const SignalledOp& op) const;
  void WriteSignal(World* world, SlotIndex i, const Op& op) const;

  const ExplorerOptions options_;
};

}  // namespace crossover::turn::test

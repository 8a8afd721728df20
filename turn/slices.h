// Decides whether the clients of one GPU keep the token for slices of whole iterations (turn/slice.h).
//
// In time-slices, where turns last until their collectives have ended, nothing of one job runs beside another
// one. To alternate by one iteration then gains nothing, and each hand-over may cost a switch of contexts. In
// slices this cost comes once for kSliceIterations iterations: the jobs run one after the other.
//
// All GPUs of a job must have slices, or none of them. Where only some have, the jobs hold each other up: a
// job that keeps one GPU waits in its collective for its rank on another GPU, where the turn went over to the
// other job. No message is exchanged, so the rules are such that GPUs seldom differ, and agree again soon:
//
// - Clients know of slices before their first turn, and begin with them soon after it (turn/slice.h).
// - What ends them ends them until the clients of the GPU change.
// - A GPU that has slices, where another one has none, sees turns that are stuck in nearly all slices. So it
//   ends them, and no GPU has any.
//
// Pure: the caller passes the time. Not thread-safe. Trivially copyable.
#pragma once

#include <cstdint>

#include "turn/rhythm.h"
#include "turn/slice.h"
#include "turn/words.h"

namespace crossover::turn {

// A switch of 4 ms in 32 iterations of 25 ms costs 0.5%. In 16 it would cost 1%.
inline constexpr std::uint32_t kSliceBits = 5;
inline constexpr std::uint32_t kSliceIterations = 1u << kSliceBits;
static_assert(kSliceBits <= kMostSliceBits);

class Slices {
 public:
  // Says whether the clients may have slices at all, such as where no cap limits how long one may wait.
  void Allow(bool allowed) { allowed_ = allowed; }
  // Says that the clients of the GPU have changed: what has ended slices is forgotten.
  void Reset();

  bool on() const { return allowed_ && ended_ == Reason::kNone; }

  // A Reason says what has ended slices. kLong: a job's turns are so long that the others would wait for too
  // long. kStuck: turns were stuck in slice after slice.
  enum class Reason : std::uint8_t { kNone, kLong, kStuck };
  Reason ended() const { return ended_; }

  // Says that a turn of `slot` has ended that lasted so long.
  void SeeEnd(SlotIndex slot, Time turn);
  // Says that the turn of `slot` in this iteration is stuck: it lasts much longer than usual, and others
  // wait. May be called many times for one turn.
  void SeeStuck(SlotIndex slot, std::uint32_t iteration);
  // Says that `slot` has the turn in this iteration.
  void SeeTurn(SlotIndex slot, std::uint32_t iteration);

  // Returns whether `slot`, which shows these words, keeps a token that it does not use: a client, itself or
  // another one, has handed it the token, and it will ask for its next turn at any moment. On other GPUs of
  // its job it may have done so. `granted` says that the arbiter has opened its gate.
  bool GoesOn(SlotIndex slot, const ClientWords& words, bool granted, Time now);

 private:
  bool allowed_ = false;
  Reason ended_ = Reason::kNone;
  std::uint8_t long_[kMaxSlots] = {};  // turns in a row that were long
  SlotIndex slot_ = kNobody;           // of the present slice
  std::uint32_t slice_ = 0;            // its number
  bool stuck_ = false;                 // a turn of it was
  int strikes_ = 0;                    // slices with such a turn, less those without one
  SlotIndex keeper_ = kNobody;
  TurnNumber kept_ = 0;  // the turn behind which the keeper has kept the token
  Time kept_since_ = 0;
};

}  // namespace crossover::turn

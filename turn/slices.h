// Decides whether the clients of one GPU keep the token for slices of whole iterations (turn/slice.h).
//
// In time-slices, in which turns last until their collectives have ended, nothing of one job runs beside
// another one. To alternate after each iteration then gains nothing, and each hand-over may cost a switch of
// contexts. With slices this cost comes once per kSliceIterations iterations: the jobs run one after the
// other.
//
// Either all GPUs of a job must have slices, or none of them. If only some have, the jobs hold each other up:
// a job that keeps one GPU waits in its collective for its rank on another GPU, where the other job has the
// turn. The GPUs exchange no message. These rules make them seldom differ, and agree again soon:
//
// - Clients know of slices before their first turn, and begin with them soon after it (turn/slice.h).
// - When slices have ended, they stay off until the clients of the GPU change.
// - A GPU with slices, if another GPU of its jobs has none, sees a stuck turn in nearly every slice. It
//   then ends its slices, and no GPU has any.
//
// Pure: the caller passes the time. Not thread-safe. Trivially copyable.
#pragma once

#include <cstdint>

#include "turn/client_words.h"
#include "turn/slice.h"
#include "turn/timing_model.h"

namespace crossover::turn {

// A switch of 4 ms in 32 iterations of 25 ms costs 0.5%. In 16 it would cost 1%.
inline constexpr std::uint32_t kSliceBits = 5;
inline constexpr std::uint32_t kSliceIterations = 1u << kSliceBits;
static_assert(kSliceBits <= kMostSliceBits);

class Slices {
 public:
  // Says whether the clients may have slices. They may not if a cap limits how long one may wait.
  void Allow(bool allowed) { allowed_ = allowed; }
  // Notes that the clients of the GPU have changed: forgets everything but Allow().
  void Reset();

  bool on() const { return allowed_ && ended_ == Reason::kNone; }

  // A Reason says what has ended slices. kLong: a job's turns are so long that the other jobs would wait for
  // too long. kStuck: turns were stuck in slice after slice.
  enum class Reason : std::uint8_t { kNone, kLong, kStuck };
  Reason ended() const { return ended_; }

  // Notes that a turn of `slot` has ended, and how long it lasted.
  void SeeEnd(SlotIndex slot, Time turn);
  // Notes that the turn of `slot` in its iteration `iteration` is stuck: the turn lasts much longer than
  // usual, and other clients wait. The caller may call this many times for one turn. Stuck turns count once
  // in a slice, however many calls and turns there are.
  void SeeStuck(SlotIndex slot, std::uint32_t iteration);
  // Notes that `slot` has the turn, in its iteration `iteration`.
  void SeeTurn(SlotIndex slot, std::uint32_t iteration);

  // Returns whether the idle client `slot`, whose words are `words`, keeps the token that lies at its open
  // gate. It does if a client, itself or another one, has handed it the token: it will ask for its next turn
  // at any moment, and on other GPUs of its job it may have done so already. It keeps the token for kPatience
  // at most (slices.cc). `granted` says that the arbiter, and not a client, has opened the gate.
  bool GoesOn(SlotIndex slot, const ClientWords& words, bool granted, Time now);

 private:
  bool allowed_ = false;
  Reason ended_ = Reason::kNone;
  std::uint8_t long_[kMaxSlots] = {};  // turns in a row that were long
  SlotIndex slot_ = kNobody;           // client that has the present slice
  std::uint32_t slice_ = 0;            // number of that slice: its iterations divided by kSliceIterations
  bool stuck_ = false;                 // a turn of the present slice was stuck
  int strikes_ = 0;                    // slices with a stuck turn, less those without one, 0 at least
  SlotIndex keeper_ = kNobody;         // client that keeps the token at its gate (GoesOn)
  TurnNumber kept_ = 0;                // the turn after which the keeper has kept the token
  Time kept_since_ = 0;
};

}  // namespace crossover::turn

// What is known of one client's rhythm, from watching its words change: when it came and went last, how long
// its turns are, and how long it stays away after each.
//
// An iteration may have several turns of unequal length, with unequal gaps behind them. So lengths are kept
// by *position* (PositionOf). Where the count of turns slips (a turn given back early and taken again), they
// are learned anew. A turn that is broken at a yield point goes on when its client is let in again: what is
// learned is how long it ran in all.
//
// Pure: time comes in. Not thread-safe. Trivially copyable.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "turn/words.h"

namespace crossover::turn {

using Time = std::int64_t;  // nanoseconds of a monotonic clock; differences too
inline constexpr Time kNever = INT64_MAX;

class Rhythm {
 public:
  struct Change {
    bool arrived = false, held = false, released = false;
    bool yielded = false;  // with `released`: at a yield point, in the middle of its turn
    Time waited = 0;       // with `held`: since arrival
    Time turn = 0;         // with `released`: since held
    Time whole =
        kNever;  // with `released`: of a turn that ended, in all its stretches, where that tells something
    Time away = kNever;  // with `arrived`: since the turn before, not within one
  };
  // Learns from a collect.
  Change Watch(const ClientWords& words, Time now);

  // Turns of an iteration, as the client says (TurnsOf).
  void SetTurns(std::uint32_t turns);
  std::uint32_t turns() const { return turns_; }

  // The present turn tells nothing of its usual length.
  void Disregard() { odd_ = true; }
  // It will not be watched for a while: neither the turn under way when it is again, nor the gap since it
  // was, tells anything. Where it then waits or holds, it is taken to have come or to be let in at that time.
  void Pause() {
    arrived_ = held_ = released_ = kNever;
    served_ = 0;
    odd_ = anew_ = true;
  }

  // The next turn after the last one given back was the client's own, or not, with nobody waiting for it:
  // what the release at that position should expect.
  void NoteNextIsOwn(bool own) { learned_[Position(last_.rel)].keeps = own; }
  bool KeepsAfter(TurnNumber k) const { return learned_[Position(k)].keeps; }

  const ClientWords& last() const { return last_; }
  Time arrived() const { return arrived_; }  // when its present wait was first seen
  Time held() const { return held_; }        // when it was last seen to be let in
  // Whether it has not had a turn since it joined, or since turns began again.
  bool fresh() const { return held_ == kNever && released_ == kNever; }
  // How long its present turn has run before that.
  Time served() const { return served_; }

  // Learned, kNever while unknown: the length of a turn like the present (or last) one, of the next, of its
  // longest, how long it stays away after the last one, and when it will ask for its next turn.
  Time turn() const { return learned_[Position(last_.hold)].turn; }
  Time next_turn() const { return learned_[Position(last_.next())].turn; }
  // How much of its present turn, or of the one it waits for, was still to run when it was let in last.
  Time rest() const {
    const Time whole = served_ > 0 || last_.holding() ? turn() : next_turn();
    return whole == kNever ? kNever : std::max<Time>(0, whole - served_);
  }
  // When it will give its present turn back.
  Time next_release() const { return rest() == kNever ? kNever : held_ + rest(); }
  Time longest_turn() const;
  Time gap() const { return learned_[Position(last_.rel)].gap; }
  Time next_arrival() const;
  // Returns when it asks at the latest, by its last two gaps. The gaps of a job that goes first in one
  // iteration and last in the next one alternate.
  Time latest_arrival() const;
  // Whether a turn at this place of the iteration (its next one) is so short, and the absence after it so
  // long, that it should go before a turn of `length`: a few kernels, then a wait for input.
  bool Brief(std::uint32_t position, Time length) const;
  bool NextIsBrief(Time length) const { return Brief(Position(last_.next()), length); }
  // Whether that was learned from more than the first few turns.
  static constexpr std::uint32_t kEnoughTurns = 8;  // at each position
  bool settled() const;
  // Of a whole iteration, smoothed: on the GPU, and away from it.
  Time busy() const { return Sum(&Learned::usual_turn); }
  Time away() const { return Sum(&Learned::usual_gap); }
  // How much its compute varies from one iteration to the next: the spread of its turns over busy(), 0.1 for
  // a tenth. Negative until each turn of the iteration has settled.
  double jitter() const;
  // What it would take with nobody beside it.
  Time alone() const { return busy() == kNever || away() == kNever ? kNever : busy() + away(); }

 private:
  struct Learned {
    Time turn = kNever;        // smoothed
  // Returns when it asks at the latest, by its last two gaps. The gaps of a job that goes first in one
  // iteration and last in the next one alternate.
  Time latest_arrival() const;
    Time usual_turn = kNever;  // smoothed more
    double variance = 0;       // of turns around usual_turn, ns^2, smoothed alike
    std::uint32_t turns = 0;   // that these two were learned from
    Time gap = kNever;         // from the release of the last such turn to the arrival after it
    Time gap_before = kNever;  // the gap after the turn before
    Time usual_gap = kNever;   // what it is without the delays of others
    bool keeps = false;
  };
  void EndTurn(TurnNumber k, Time now);
  void NoteGap(TurnNumber k, Time gap);
  Time Sum(Time Learned::*part) const;
  std::uint32_t Position(TurnNumber k) const { return PositionOf(k, turns_); }

  ClientWords last_;
  Time arrived_ = kNever;
  Time held_ = kNever;
  Time released_ = kNever;  // when its last turn was seen to end
  Time served_ = 0;
  bool odd_ = false;
  bool anew_ = false;  // the next collect is the first after a pause: what stands is as new as what changes
  std::uint32_t turns_ = 1;
  std::array<Learned, kMaxTurns> learned_;
};

}  // namespace crossover::turn

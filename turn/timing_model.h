// Learns the timing of one client from the changes of its words: when it last came and went, how long its
// turns are, and how long it stays away after each.
//
// An iteration may have several turns of unequal length, with unequal gaps after them. Lengths are
// therefore kept per *position* in the iteration (PositionOf). If the count of turns slips (a turn that is
// given back early and taken again), the lengths are learned again. A turn that is broken at a yield point
// goes on when its client is let in again. The learned length is how long the turn ran in total.
//
// A client whose turns end at waits may have more turns in an iteration than there are positions. Then all of
// them have one position. What an iteration takes is the sum of that many turns in a row, and of the gaps
// between them, smoothed like other lengths.
//
// Pure: the caller passes the time. Not thread-safe. Trivially copyable.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "turn/client_words.h"

namespace crossover::turn {

using Time = std::int64_t;  // nanoseconds of a monotonic clock, or a difference of two such times
inline constexpr Time kNever = INT64_MAX;

class TimingModel {
 public:
  // A Change says what one call of Watch() has found.
  struct Change {
    bool arrived = false, held = false, released = false;
    bool yielded = false;  // with `released`: the client stopped at a yield point, in the middle of its turn
    Time waited = 0;       // with `held`: time since it arrived
    Time turn = 0;         // with `released`: time since it was let in
    // With `released`, `whole` is the length of a turn that ended, with all its stretches. It is kNever if
    // the length is not representative.
    Time whole = kNever;
    Time away = kNever;  // with `arrived`: time since its previous turn; kNever within a turn
  };
  // Learns from the client's words in one collect.
  Change Watch(const ClientWords& words, Time now);

  // Sets the number of turns per iteration, as the client reports it. turns() returns the number of positions
  // (TurnsOf).
  void SetTurns(std::uint32_t turns);
  std::uint32_t turns() const { return turns_; }
  // Returns how many turns of an iteration each position stands for.
  std::uint32_t turns_of_a_position() const { return of_a_position_; }

  // Ignores the present turn when learning: its length is not representative.
  void Disregard() { odd_ = true; }
  // Says that the client will not be watched for a while. The turn in progress when watching resumes, and
  // the gap before it, teach nothing. A client that then waits or holds counts as having come, or as having
  // been let in, at that time.
  void Pause() {
    arrived_ = held_ = released_ = kNever;
    served_ = 0;
    odd_ = anew_ = true;
  }

  // Forgets how long turns and gaps are, so that they are learned anew.
  void Forget() {
    learned_ = {};
    whole_ = {};
  }

  // NoteNextIsOwn() notes, for the position of the turn given back last, whether this client had the next
  // turn too while no other client waited. KeepsAfter() returns what was noted for the position of turn `k`.
  // Policy::Successor() keeps the token for the client if this note is true.
  void NoteNextIsOwn(bool own) { learned_[Position(last_.rel)].keeps = own; }
  bool KeepsAfter(TurnNumber k) const { return learned_[Position(k)].keeps; }

  const ClientWords& last() const { return last_; }
  Time arrived() const { return arrived_; }  // when its present wait was first seen
  Time held() const { return held_; }        // when it was last seen to be let in
  // Returns whether it has not had a turn since it joined or since turns began again.
  bool fresh() const { return held_ == kNever && released_ == kNever; }
  // Returns how long its present turn ran before held().
  Time served() const { return served_; }

  // The functions from here to latest_arrival() return learned values, or kNever while they are unknown.
  // turn() returns the length of a turn at the position of the present turn, or of the last one between
  // turns. next_turn() returns that of the next turn.
  Time turn() const { return learned_[Position(last_.hold)].turn; }
  Time next_turn() const { return learned_[Position(last_.next())].turn; }
  // Returns how much of its present turn, or of the turn that it waits for, was left when it was last let
  // in.
  Time rest() const {
    const Time whole = served_ > 0 || last_.holding() ? turn() : next_turn();
    return whole == kNever ? kNever : std::max<Time>(0, whole - served_);
  }
  // Returns when it will give its present turn back.
  Time next_release() const { return rest() == kNever ? kNever : held_ + rest(); }
  // Returns the length of the longest turn of its iteration.
  Time longest_turn() const;
  // gap() returns how long it stays away after the turn that it gave back last. next_arrival() returns when
  // it will ask for its next turn; kNever while it holds one.
  Time gap() const { return learned_[Position(last_.rel)].gap; }
  Time next_arrival() const;
  // Returns when it asks at the latest: after the longer of its last two gaps at that position. The gaps of a
  // job that goes first in one iteration and last in the next one alternate.
  Time latest_arrival() const;
  // Returns whether a turn at `position` of the iteration is so short, and the absence after it so long, that
  // it should go before another client's turn of `length`: a few kernels, then a wait for input.
  // NextIsBrief() returns this for the next turn.
  bool Brief(std::uint32_t position, Time length) const;
  bool NextIsBrief(Time length) const { return Brief(Position(last_.next()), length); }
  // settled() returns whether each position of the iteration has shown at least this many turns, and a gap. A
  // position of many turns has also shown two iterations.
  static constexpr std::uint32_t kEnoughTurns = 8;
  bool settled() const;
  // busy() returns the time of one iteration in which the client has the GPU: the sum of its turns. away()
  // returns the rest of the iteration: the sum of its gaps. Both are smoothed. Each is kNever until every
  // position of the iteration (see the head of this file) has shown a turn, or a gap.
  Time busy() const { return of_a_position_ > 1 ? whole_.usual_turns : Sum(&Learned::usual_turn); }
  Time away() const { return of_a_position_ > 1 ? whole_.usual_gaps : Sum(&Learned::usual_gap); }
  // Returns how much its compute varies between iterations: the standard deviation of its turns divided by
  // busy(), so 0.1 means a tenth. Returns a negative number until each position has shown kEnoughTurns turns,
  // and if turns of unequal length count as one position.
  double jitter() const;
  // Returns the length of its iteration with no other client on the GPU.
  Time alone() const { return busy() == kNever || away() == kNever ? kNever : busy() + away(); }

 private:
  struct Learned {
    Time turn = kNever;        // smoothed
    Time usual_turn = kNever;  // smoothed more slowly
    double variance = 0;       // of turns around usual_turn, ns^2, smoothed in the same way
    std::uint32_t turns = 0;   // number of turns behind the two values above
    Time gap = kNever;         // from the last such turn's release to the next arrival
    Time gap_before = kNever;  // the gap after the turn before
    Time usual_gap = kNever;   // the gap without delays by other jobs
    bool keeps = false;
  };
  // A Whole sums as many turns in a row, and gaps, as an iteration has, if they have one position. The sum
  // does not depend on the turn at which it begins.
  struct Whole {
    Time turns = 0, gaps = 0;                         // of the present sum
    std::uint32_t turns_summed = 0, gaps_summed = 0;  // of the present sum
    Time usual_turns = kNever, usual_gaps = kNever;   // smoothed
    std::uint32_t seen = 0;                           // sums of turns behind `usual_turns`
  };
  void AddToWhole(Time turn);
  void AddGapToWhole(Time gap);
  void EndTurn(TurnNumber k, Time now);
  void NoteGap(TurnNumber k, Time gap);
  static constexpr std::uint32_t kMostOfAPosition = 1024;  // a client may say anything

  Time Sum(Time Learned::*part) const;
  std::uint32_t Position(TurnNumber k) const { return PositionOf(k, turns_); }

  ClientWords last_;
  Time arrived_ = kNever;
  Time held_ = kNever;
  Time released_ = kNever;  // when its last turn was seen to end
  Time served_ = 0;
  bool odd_ = false;
  bool anew_ = false;  // the next collect is the first after a pause: its old words count as new
  std::uint32_t turns_ = 1;
  std::uint32_t of_a_position_ = 1;  // turns of an iteration at each position
  std::array<Learned, kMaxTurns> learned_;
  Whole whole_;
};

}  // namespace crossover::turn

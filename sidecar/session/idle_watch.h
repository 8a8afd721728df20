// Decides when the client gives back a turn in which nothing runs: at an input stall, a checkpoint or a
// pause.
//
// The owner calls Look() at intervals. A short gap between two launches is no stall. How long a gap has to be
// depends on whether the job's turns have stalled lately: if a data loader cannot keep up, they stall in
// every iteration. Pure; not thread-safe.
//
// Some turns last until their collectives have ended. If one rank gives such a turn back in the middle,
// another job gets in here, while the other ranks of that job may wait behind this job on other GPUs. Then
// neither job can go on. So such a turn is given back only after nothing has moved for long.
#pragma once

#include <algorithm>
#include <cstdint>

#include "turn/ops.h"

namespace crossover::session {

// An IdleWatch judges one client's turns, one look after the other.
class IdleWatch {
 public:
  constexpr IdleWatch() = default;

  // Sets whether turns last until their collectives have ended.
  void set_turns_last(bool last) { turns_last_ = last; }

  // Looks at turn `k`. `launches` is the number of launches since the turn began. `idle` says that the client
  // holds the turn and nothing runs in it. Returns true if nothing has run for long enough to give the turn
  // back.
  bool Look(turn::TurnNumber k, std::int32_t launches, bool idle) {
    if (turn::TurnOf(k) != turn_) {
      turn_ = turn::TurnOf(k);
      stalled_ = false;
      score_ = std::max(0, score_ - 1);
      looks_ = 0;
    }
    const bool stands = launches == launches_ || (usual() && launches == stall_launches_);
    looks_ = idle && stands ? looks_ + 1 : 0;
    launches_ = launches;
    if (looks_ < Patience()) return false;
    looks_ = 0;
    stall_launches_ = launches;
    if (!stalled_) score_ = std::min(kMost, score_ + kStall);
    stalled_ = true;
    return true;
  }

  // Returns after how many microseconds to look again. The time is short if the turn has as many launches as
  // it had at the last stall.
  int next_look() const {
    constexpr int kRare = 5000, kUsually = 500, kAtStall = 100;
    if (!usual()) return kRare;
    return launches_ == stall_launches_ ? kAtStall : kUsually;
  }

  // Returns whether turns of this job usually stall. The stall then splits a turn, so that an iteration has
  // one turn more.
  bool usual() const { return !turns_last_ && score_ >= kUsual; }

 private:
  // Returns how many idle looks in a row make a stall.
  int Patience() const {
    constexpr int kOdd = 2, kCollective = 20;
    return turns_last_ ? kCollective : usual() ? 1 : kOdd;
  }

  // The score grows by kStall with a stall and falls by 1 with each new turn. If an iteration of up to four
  // turns has a stall, the score does not fall. Two such iterations in a row bring it to kUsual.
  static constexpr int kStall = 5;
  static constexpr int kUsual = 6;
  static constexpr int kMost = 12;

  std::uint32_t turn_ = 0;
  std::int32_t launches_ = -1;
  std::int32_t stall_launches_ = 0;
  int looks_ = 0;
  int score_ = 0;
  bool turns_last_ = false;
  bool stalled_ = false;  // in this turn
};

}  // namespace crossover::session

// When a turn in which nothing runs should be given back: an input stall, a checkpoint, a pause.
//
// Told now and then how things stand. A gap between two launches is not taken for idleness; how long one has
// to last depends on whether the job's turns have stalled of late, as every iteration's does where a data
// loader cannot keep up. Pure; not thread-safe.
//
// Where turns last until their collectives have ended, one that a single rank gives back in the middle lets a
// job in here whose other ranks wait behind ours elsewhere: nobody can go on. There a turn is given back only
// when nothing has moved for long.
#pragma once

#include <algorithm>
#include <cstdint>

#include "turn/ops.h"

namespace crossover::session {

class IdleWatch {
 public:
  constexpr IdleWatch() = default;

  // Whether turns last until their collectives have ended.
  void set_turns_last(bool last) { turns_last_ = last; }

  // `launches`: since turn `k` began. `idle`: it is held, and nothing runs in it. True: nothing has for long
  // enough.
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

  // When to look again, microseconds. Densely where the turn stands as it did when one stalled last.
  int next_look() const {
    constexpr int kRare = 5000, kUsually = 500, kAtStall = 100;
    if (!usual()) return kRare;
    return launches_ == stall_launches_ ? kAtStall : kUsually;
  }

  // Whether turns of this job stall as a rule: then an iteration has one turn more.
  bool usual() const { return !turns_last_ && score_ >= kUsual; }

 private:
  // Idle looks in a row.
  int Patience() const {
    constexpr int kOdd = 2, kCollective = 20;
    return turns_last_ ? kCollective : usual() ? 1 : kOdd;
  }

  // A stall in each iteration of up to four turns keeps the score up; two of them in a row get it there.
  static constexpr int kStall = 5;
  static constexpr int kUsual = 6;
  static constexpr int kMost = 12;

  std::uint32_t turn_ = 0;
  std::int32_t launches_ = -1;
  std::int32_t stall_launches_ = 0;
  int looks_ = 0;
  int score_ = 0;
  bool turns_last_ = false;
  bool stalled_ = false;  // this turn
};

}  // namespace crossover::session

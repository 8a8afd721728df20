// What becomes of a GPU whose turnstile one of its clients has written over.
//
// Who it was cannot be seen on a page that all share. So each client gets a page of its own for a while, on
// which nobody takes turns: whoever writes over that one too has shown himself. He is turned away for a
// longer time, and the others share again, as they do when nobody has shown himself in time.
//
// Pure: time comes in. Not thread-safe.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "turn/rhythm.h"

namespace crossover::arbiter {

class Quarantine {
 public:
  static constexpr turn::Time kLongest = 60 * base::kNsPerSecond;
  // Afterwards he is let in again, to be found out again: a program with an error may have been mended.
  static constexpr turn::Time kTurnedAway = 300 * base::kNsPerSecond;
  static constexpr std::size_t kMostConvicts = 256;  // the oldest are forgotten

  // A page that several clients share was written over.
  void Begin(const std::string& gpu, turn::Time now) { until_[gpu] = now + kLongest; }
  bool Has(const std::string& gpu) const { return until_.count(gpu) != 0; }

  // The client of a page of its own has written over that.
  void Convict(const std::string& gpu, const std::string& gang, unsigned uid, turn::Time now);
  // For how long he is still turned away; 0: he is not.
  turn::Time TurnedAwayFor(const std::string& gang, unsigned uid, turn::Time now) const;

  // GPUs whose clients may share again, since the last call.
  std::vector<std::string> TakeReleased(turn::Time now);
  // When the next of them is due; turn::kNever if none is.
  turn::Time next_release() const;

 private:
  struct Convicted {
    std::string gang;
    unsigned uid;
    turn::Time until;
  };
  std::unordered_map<std::string, turn::Time> until_;
  std::vector<Convicted> convicts_;
};

}  // namespace crossover::arbiter

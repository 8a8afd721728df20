// Keeps GPUs in quarantine after one of their clients has written over the turnstile.
//
// A shared page does not show which client it was. So for a while each client gets a page of its own, on
// which it takes no turns with others:
//
//   Begin():    the shared page is damaged, each client gets a page of its own
//      |
//      +-- Block(): the page of one client is damaged --> shared page again, without this client
//      +-- kLongest has passed ----------------------------> shared page again, with all clients
//
// The arbiter turns a client that was identified so away for a longer time. The others share a page again.
// They also do so when no client was identified in time.
//
// Pure: the caller passes the time. Not thread-safe.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "turn/timing_model.h"

namespace crossover::arbiter {

class Quarantine {
 public:
  static constexpr turn::Time kLongest = 60 * base::kNsPerSecond;
  // After this time a client that was turned away may join again: its program may have been fixed. If not,
  // the quarantine finds it again.
  static constexpr turn::Time kTurnedAway = 300 * base::kNsPerSecond;
  static constexpr std::size_t kMostBlocked = 256;  // beyond this the oldest are forgotten

  // Begins the quarantine of a GPU: a page that several clients share was written over.
  void Begin(const std::string& gpu, turn::Time now) { until_[gpu] = now + kLongest; }
  bool Has(const std::string& gpu) const { return until_.count(gpu) != 0; }

  // Turns a gang of a user away and ends the quarantine of its GPU: it has written over a page of its own.
  void Block(const std::string& gpu, const std::string& gang, unsigned uid, turn::Time now);
  // Returns for how long the gang is still turned away, or 0 if it is not.
  turn::Time TurnedAwayFor(const std::string& gang, unsigned uid, turn::Time now) const;

  // Returns the GPUs whose clients may share a page again since the last call.
  std::vector<std::string> TakeReleased(turn::Time now);
  // Returns when the next quarantine ends, or turn::kNever if there is none.
  turn::Time next_release() const;

 private:
  struct Blocked {
    std::string gang;
    unsigned uid;
    turn::Time until;
  };
  std::unordered_map<std::string, turn::Time> until_;
  std::vector<Blocked> blocked_;
};

}  // namespace crossover::arbiter

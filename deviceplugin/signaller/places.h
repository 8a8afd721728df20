// Decides which signallers must run when one process keeps those of all GPUs. Pure.
//
//     GPU-...01   [ pid 71 ]  [ pid 72 ]     two places: one signaller works, one stands ready
//     GPU-...02   [ pid 73 ]  [ due at t ]   this one has ended, and is started again after a pause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "turn/policy.h"

namespace crossover::signaller {

// A Place is a position in which a signaller of a GPU runs, or must run.
struct Place {
  std::string gpu;
  pid_t pid = 0;           // 0: none runs
  turn::Time due = 0;      // when it must be started, while none runs
  turn::Time started = 0;  // when the last one was
  turn::Time pause = 0;    // after which the last one was started; 0: at once
};

// Places is not thread-safe.
class Places {
 public:
  // A signaller that has ended is started again after a pause. The pause doubles from the shortest to the
  // longest. If the signaller ran for at least kLongestPause, the next pause is the shortest again.
  static constexpr turn::Time kShortestPause = 1'000'000'000;
  static constexpr turn::Time kLongestPause = 32'000'000'000;

  // REQUIRES: count > 0, the number of signallers for each GPU.
  explicit Places(int count) : count_(count) {}

  // Takes the GPUs that the machine has now. A new one gets places that are due at `now`. A GPU that has gone
  // loses those in which no signaller runs.
  void SetGpus(const std::vector<std::string>& gpus, turn::Time now);

  // Returns a place that must be filled at `now`, or null.
  Place* Due(turn::Time now);
  // Returns when the next place is due; nothing if no place waits.
  std::optional<turn::Time> next() const;

  // Notes that a signaller was started in a place. 0 for `pid` means that it could not be.
  void Started(Place* place, pid_t pid, turn::Time now);
  // Notes that a process has ended. Returns its place, or null if it was in none.
  const Place* Ended(pid_t pid, turn::Time now);

  const std::vector<Place>& all() const { return places_; }

 private:
  const int count_;
  std::vector<Place> places_;
};

}  // namespace crossover::signaller

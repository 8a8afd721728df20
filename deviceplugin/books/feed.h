// Events on their way to one watcher. Whoever puts them in never waits for whoever takes them out: a slow
// watcher loses the oldest, and is told how many.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "deviceplugin/arbiter/observer.h"

namespace crossover::deviceplugin {

// Whether watchers are told of such events: what becomes of turns and clients, not how the arbiter does it.
bool ToldToWatchers(arbiter::EventKind kind);

// Thread-safe.
class TurnFeed {
 public:
  static constexpr std::size_t kMost = 1024;

  struct Batch {
    std::uint64_t dropped = 0;  // events lost before these
    std::vector<arbiter::Event> events;
    bool ended = false;  // nothing comes any more
  };

  void Put(const arbiter::Event& event);
  void End();
  // What there is; waits at most `patience` for something.
  Batch Take(std::chrono::milliseconds patience);

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<arbiter::Event> events_;
  std::uint64_t dropped_ = 0;
  bool ended_ = false;
};

}  // namespace crossover::deviceplugin

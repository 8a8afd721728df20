// Carries events to one watcher. The writer never waits for the reader: a slow watcher loses the oldest
// events, and is told how many.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "deviceplugin/arbiter/observer.h"

namespace crossover::deviceplugin {

// Returns whether watchers get events of this kind. They get what happens to turns and clients, and not how
// the arbiter does it.
bool ToldToWatchers(arbiter::EventKind kind);

// EventSubscription is thread-safe.
class EventSubscription {
 public:
  static constexpr std::size_t kMost = 1024;

  struct Batch {
    std::uint64_t dropped;  // events lost before these
    std::vector<arbiter::Event> events;
    bool ended;  // no more events will come
  };

  void Put(const arbiter::Event& event);
  void End();
  // Returns the events that are there. Waits at most `patience` for the first one.
  Batch Take(std::chrono::milliseconds patience);

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<arbiter::Event> events_;
  std::uint64_t dropped_ = 0;
  bool ended_ = false;
};

}  // namespace crossover::deviceplugin

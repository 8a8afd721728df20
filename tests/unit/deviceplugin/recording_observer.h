// Remembers everything that an observer is told.
#pragma once

#include <string>
#include <vector>

#include "deviceplugin/arbiter/observer.h"

namespace crossover::arbiter {

class RecordingObserver : public Observer {
 public:
  void OnEvent(const Event& event) override { events.push_back(event); }
  void OnLog(LogLevel, std::string line) override { lines.push_back(std::move(line)); }
  void OnStats(const std::shared_ptr<const GpuInfo>&, const turn::Stats& now) override { stats = now; }

  std::size_t Count(EventKind kind) const {
    std::size_t count = 0;
    for (const Event& event : events) count += event.kind == kind ? 1 : 0;
    return count;
  }

  std::vector<Event> events;
  std::vector<std::string> lines;
  turn::Stats stats;
};

}  // namespace crossover::arbiter

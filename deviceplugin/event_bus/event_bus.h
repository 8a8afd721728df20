// Carries the arbiter's reports to metrics, trace, log and StatsStore, on a thread of its own. Files, locks
// and network therefore never delay a client's turn.
//
//   arbiter's thread --> queue --> event bus's thread, every 100 ms --> each Sink, in order; the log
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "deviceplugin/arbiter/observer.h"

namespace crossover::deviceplugin {

// A Sink receives the arbiter's reports. Only the event bus's thread calls it.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void OnEvent(const arbiter::Event& event) = 0;
  virtual void OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) = 0;
  // Reports that this many events were lost because they came too fast.
  virtual void OnDropped(std::uint64_t events) = 0;
  // Ends a round.
  virtual void Flush() {}
};

// An EventBus queues reports for the sinks. Any thread may call the Observer functions, which do not wait for
// the sinks.
class EventBus : public arbiter::Observer {
 public:
  // REQUIRES: the sinks outlive the event bus.
  explicit EventBus(std::vector<Sink*> sinks);
  // Delivers what is left before it returns.
  ~EventBus() override;

  void OnEvent(const arbiter::Event& event) override;
  void OnLog(arbiter::LogLevel level, std::string line) override;
  void OnStats(const std::shared_ptr<const arbiter::GpuInfo>& gpu, const turn::Stats& stats) override;

 private:
  struct LogLine {
    arbiter::LogLevel level;
    std::string text;
  };
  struct StatsOf {
    std::shared_ptr<const arbiter::GpuInfo> gpu;
    turn::Stats stats;
  };
  using Item = std::variant<arbiter::Event, LogLine, StatsOf>;

  void Put(Item item);
  void Run();
  void Deliver(const std::vector<Item>& items, std::uint64_t dropped);

  const std::vector<Sink*> sinks_;
  std::mutex mutex_;  // held for a push or a swap only
  std::condition_variable wake_;
  std::vector<Item> items_;
  std::uint64_t dropped_ = 0;
  bool stop_ = false;
  std::thread thread_;  // last: the thread uses the other members
};

}  // namespace crossover::deviceplugin

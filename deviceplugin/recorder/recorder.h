// Carries what the arbiter reports to metrics, trace, log and books, on a thread of its own. Files, locks
// and network therefore never delay a client's turn.
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

// The recorder's thread alone calls a Sink.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void OnEvent(const arbiter::Event& event) = 0;
  virtual void OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) = 0;
  virtual void OnDropped(std::uint64_t events) = 0;
  virtual void Flush() {}
};

// The Observer functions may be called from any thread and do not wait for the sinks.
class Recorder : public arbiter::Observer {
 public:
  // REQUIRES: the sinks outlive the recorder.
  explicit Recorder(std::vector<Sink*> sinks);
  // Delivers what is left before it returns.
  ~Recorder() override;

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

// Carries what the arbiter reports to whoever shows it, on a thread of its own: files, locks and network
// never stand between a client and its turn.
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

// Called on the recorder's thread alone.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void OnEvent(const arbiter::Event& event) = 0;
  virtual void OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) = 0;
  virtual void OnDropped(std::uint64_t events) = 0;
  virtual void Flush() {}
};

class Recorder : public arbiter::Observer {
 public:
  // The sinks outlive the recorder.
  explicit Recorder(std::vector<Sink*> sinks);
  // Delivers what is left.
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
  std::mutex mutex_;  // held for the time of a push or a swap
  std::condition_variable wake_;
  std::vector<Item> items_;
  std::uint64_t dropped_ = 0;
  bool stop_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::deviceplugin

// Writes the arbiter's events as JSON lines, for reports and timelines.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "deviceplugin/event_bus/event_bus.h"

namespace crossover::deviceplugin {

// Returns the event as one line of JSON, without the line feed. Events without a client have neither slot nor
// gang.
std::string TraceLine(const arbiter::Event& event);

class TraceWriter : public Sink {
 public:
  // Opens `path` for appending. Returns null on failure, with the reason in `error`.
  static std::unique_ptr<TraceWriter> Open(const std::string& path, std::string* error);

  void OnEvent(const arbiter::Event& event) override;
  void OnStats(const arbiter::GpuInfo&, const turn::Stats&) override {}
  void OnDropped(std::uint64_t events) override;
  void Flush() override;

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  explicit TraceWriter(std::FILE* file) : file_(file) {}

  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace crossover::deviceplugin

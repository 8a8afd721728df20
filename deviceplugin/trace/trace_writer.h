// Writes the arbiter's events as JSON lines, for reports and timelines.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "common/base/fd.h"
#include "deviceplugin/event_bus/event_bus.h"

namespace crossover::deviceplugin {

// Returns the event as one line of JSON, without the line feed. Events without a client have neither slot nor
// gang.
std::string TraceLine(const arbiter::Event& event);

// A TraceWriter writes whole lines, at the end of each round that has events. A daemon that is killed
// therefore leaves no part of a line for the next daemon to append to, unless it is killed within a write of
// several pages. While the file cannot be written it keeps 1 MiB of lines. Beyond that it counts lost events.
// It adds their number to the trace at the end of the first round in which it can write again.
class TraceWriter : public Sink {
 public:
  // Opens `path` for appending, at the beginning of a line. Returns null on failure, with the reason in
  // `error`.
  static std::unique_ptr<TraceWriter> Open(const std::string& path, std::string* error);

  void OnEvent(const arbiter::Event& event) override;
  void OnStats(const arbiter::GpuInfo&, const turn::Stats&) override {}
  void OnDropped(std::uint64_t events) override;
  void Flush() override;
  ~TraceWriter() override;  // writes what is pending, or says how many events are lost

  // Returns how many events were lost because the file could not be written. Any thread may call it.
  std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  TraceWriter(std::string path, base::UniqueFd file) : path_(std::move(path)), file_(std::move(file)) {}

  // Writes what is pending. Returns whether the file took all of it.
  bool Write();

  const std::string path_;
  base::UniqueFd file_;
  std::string pending_;       // whole lines; after a failed write, from the first byte that is not written
  std::uint64_t missed_ = 0;  // lost events whose number is not yet in the trace
  bool failing_ = false;      // the last write failed, and the log says so
  std::atomic<std::uint64_t> lost_{0};
};

}  // namespace crossover::deviceplugin

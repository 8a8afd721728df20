#include "deviceplugin/trace/trace_writer.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "common/logging/log.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::size_t kMostPending = 1 << 20;  // bytes

// Returns whether the file, which is open for writing, ends within a line: its disk was full when the last
// writer ended. A file that cannot be read counts as one that does not.
bool EndsWithinLine(int file, const std::string& path) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) return false;
  const base::UniqueFd readable(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char last = '\n';
  return readable && ::pread(readable.get(), &last, 1, status.st_size - 1) == 1 && last != '\n';
}

// Returns `text` as a JSON string. REQUIRES: printable ASCII, as the arbiter has checked for names.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted += '"';
}

}  // namespace

std::string TraceLine(const arbiter::Event& event) {
  std::string line = "{\"t_ns\":" + std::to_string(event.at) + ",\"gpu\":" + Quoted(event.gpu->uuid);
  if (event.member != nullptr) {
    line += ",\"slot\":" + std::to_string(event.member->slot) + ",\"gang\":" + Quoted(event.member->gang);
  }
  line += ",\"event\":" + Quoted(Name(event.kind));
  if (event.kind == arbiter::EventKind::kMode) line += ",\"mode\":" + Quoted(arbiter::ModeName(event.mode));
  return line + "}";
}

std::unique_ptr<TraceWriter> TraceWriter::Open(const std::string& path, std::string* error) {
  base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!file) {
    *error = path + ": " + std::strerror(errno);
    return nullptr;
  }
  const bool within_line = EndsWithinLine(file.get(), path);
  std::unique_ptr<TraceWriter> writer(new TraceWriter(path, std::move(file)));
  if (within_line) writer->pending_ = "\n";
  return writer;
}

void TraceWriter::OnEvent(const arbiter::Event& event) {
  // The trace is about turns: iterations, and what is called in them, are left out.
  if (event.kind == arbiter::EventKind::kStep || event.kind == arbiter::EventKind::kMeasure ||
      event.kind == arbiter::EventKind::kCalls || event.kind == arbiter::EventKind::kReductions)
    return;
  const std::string line = TraceLine(event) + "\n";
  if (pending_.size() + line.size() <= kMostPending || Write()) {
    pending_ += line;
    return;
  }
  ++missed_;
  lost_.fetch_add(1, std::memory_order_relaxed);
}

void TraceWriter::OnDropped(std::uint64_t events) { missed_ += events; }

void TraceWriter::Flush() {
  if (!Write() || missed_ == 0) return;
  pending_ = "{\"dropped\":" + std::to_string(std::exchange(missed_, 0)) + "}\n";
  Write();
}

TraceWriter::~TraceWriter() {
  if (!Write())
    logging::Warn("the trace cannot be written: " + path_ + ": " +
                  std::to_string(std::count(pending_.begin(), pending_.end(), '\n')) +
                  " events that waited to be written are lost");
}

bool TraceWriter::Write() {
  while (!pending_.empty()) {
    const ssize_t written = ::write(file_.get(), pending_.data(), pending_.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const char* reason = written < 0 ? std::strerror(errno) : "the file takes no byte";
      if (!std::exchange(failing_, true))
        logging::Warn("the trace cannot be written: " + path_ + ": " + reason +
                      "; the newest events are lost once " + std::to_string(kMostPending >> 20) +
                      " MiB of them wait");
      return false;
    }
    pending_.erase(0, static_cast<std::size_t>(written));
  }
  if (std::exchange(failing_, false)) logging::Info("the trace is written again: " + path_);
  return true;
}

}  // namespace crossover::deviceplugin

#include "deviceplugin/trace/trace_writer.h"

#include <cerrno>
#include <cstring>
#include <string_view>

namespace crossover::deviceplugin {
namespace {

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
  std::FILE* file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) {
    *error = path + ": " + std::strerror(errno);
    return nullptr;
  }
  return std::unique_ptr<TraceWriter>(new TraceWriter(file));
}

void TraceWriter::OnEvent(const arbiter::Event& event) {
  // The trace is about turns: iterations are left out.
  if (event.kind == arbiter::EventKind::kStep || event.kind == arbiter::EventKind::kMeasure) return;
  const std::string line = TraceLine(event) + "\n";
  std::fwrite(line.data(), 1, line.size(), file_.get());
}

void TraceWriter::OnDropped(std::uint64_t events) {
  std::fprintf(file_.get(), "{\"dropped\":%llu}\n", static_cast<unsigned long long>(events));
}

void TraceWriter::Flush() { std::fflush(file_.get()); }

}  // namespace crossover::deviceplugin

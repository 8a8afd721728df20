#include "simgpu/nvml/health.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "common/base/refusal.h"

namespace simgpu {

std::optional<HealthEvent> ParseHealthLine(std::string_view line, std::string* error) {
  error->clear();
  std::istringstream words{std::string(line)};
  HealthEvent event;
  std::string kind, rest;
  if (!(words >> event.uuid) || event.uuid[0] == '#') return std::nullopt;
  if (words >> kind >> event.xid && kind == "xid" && !(words >> rest)) return event;
  *error = crossover::base::Refusal("a line", "GPU-... xid NUMBER", line);
  return std::nullopt;
}

HealthFile::HealthFile(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_, std::ios::ate);
  if (file) offset_ = static_cast<std::uint64_t>(file.tellg());
}

std::optional<HealthEvent> HealthFile::Next() {
  std::ifstream file(path_);
  if (!file || !file.seekg(static_cast<std::streamoff>(offset_))) return std::nullopt;
  std::string line, error;
  // A line without its end is still being written. The next call reads it.
  while (std::getline(file, line) && !file.eof()) {
    offset_ = static_cast<std::uint64_t>(file.tellg());
    if (const auto event = ParseHealthLine(line, &error)) return event;
    if (!error.empty()) std::fprintf(stderr, "simgpu: %s: %s\n", path_.c_str(), error.c_str());
  }
  return std::nullopt;
}

}  // namespace simgpu

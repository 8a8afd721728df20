// Reads health events, which a person injects: lines "GPU-... xid N" appended to the file `health` in the
// state directory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace simgpu {

struct HealthEvent {
  std::string uuid;
  std::uint64_t xid = 0;
};

// Parses one line of the file. Returns no value if the line is empty, a comment (#) or malformed; *error is
// empty unless the line is malformed.
std::optional<HealthEvent> ParseHealthLine(std::string_view line, std::string* error);

// A HealthFile reads the events that are appended to a file after the object was made.
class HealthFile {
 public:
  explicit HealthFile(std::string path);
  // Returns the next event, or no value if there is none. Prints malformed lines to stderr and skips them.
  std::optional<HealthEvent> Next();

 private:
  std::string path_;
  std::uint64_t offset_ = 0;
};

}  // namespace simgpu

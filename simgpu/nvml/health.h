// Health events, injected by hand: lines "GPU-... xid N" appended to the file `health` in the state
// directory.
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

// One line of the file; nothing when it is empty, a comment (#), or malformed (*error says why).
std::optional<HealthEvent> ParseHealthLine(std::string_view line, std::string* error);

// Reads events that were appended after it was made.
class HealthFile {
 public:
  explicit HealthFile(std::string path);
  // The next event, if there is one.
  std::optional<HealthEvent> Next();

 private:
  std::string path_;
  std::uint64_t offset_ = 0;
};

}  // namespace simgpu

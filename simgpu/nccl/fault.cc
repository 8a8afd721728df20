#include "simgpu/nccl/fault.h"

#include <charconv>
#include <cstdlib>

#include "common/base/refusal.h"

namespace simgpu::nccl {

namespace {

template <typename T>
bool ParseNumber(std::string_view text, T* value) {
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return status == std::errc() && end == text.data() + text.size();
}

bool ParseOne(std::string_view entry, Fault* fault) {
  const auto colon = entry.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view name = entry.substr(0, colon);
  const std::string_view value = entry.substr(colon + 1);
  if (name == "slow_link") return ParseNumber(value, &fault->slow_link) && fault->slow_link > 0;
  std::uint32_t index = 0;
  if (!ParseNumber(value, &index)) return false;
  if (name == "corrupt_byte") {
    fault->corrupt_byte = index;
  } else if (name == "drop") {
    fault->drop = index;
  } else if (name == "stall") {
    fault->stall = index;
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool ParseFault(std::string_view text, Fault* fault, std::string* error) {
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    if (!ParseOne(entry, fault)) {
      *error = crossover::base::Refusal("SIMGPU_NCCL_FAULT", "corrupt_byte:N, drop:N, stall:N or slow_link:F",
                                        entry);
      return false;
    }
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return true;
}

bool LoadFault(Fault* fault, std::string* error) {
  const char* text = std::getenv("SIMGPU_NCCL_FAULT");
  return text == nullptr || ParseFault(text, fault, error);
}

}  // namespace simgpu::nccl

// Truncates UTF-8 text of any script.
#pragma once

#include <string_view>

namespace crossover::text {

// Returns the first `bytes` bytes of `text`, or fewer if a UTF-8 character would be cut in half. The
// result points into `text`.
inline std::string_view Truncate(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0u) == 0x80u) --bytes;
  return text.substr(0, bytes);
}

}  // namespace crossover::text

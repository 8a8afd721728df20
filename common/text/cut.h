// The beginning of a text that may be of any script.
#pragma once

#include <string_view>

namespace crossover::text {

// At most so many bytes, and no half letter of UTF-8 at the end.
inline std::string_view Cut(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0u) == 0x80u) --bytes;
  return text.substr(0, bytes);
}

}  // namespace crossover::text

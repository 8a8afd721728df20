// Puts the refusal of a value into words: what is expected, and what stands there. Pure; any thread may call
// these functions.
#pragma once

#include <string>
#include <string_view>

namespace crossover::base {

// Returns `value` in a form that is safe in messages: at most 60 characters and "..", and a question mark
// for each byte that is not printable ASCII. Any user may have written `value`.
inline std::string Shown(std::string_view value) {
  constexpr std::size_t kMuch = 60;
  std::string shown(value.substr(0, kMuch));
  if (value.size() > kMuch) shown += "..";
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return shown;
}

// Returns "KEY: expected EXPECTED, got GOT". `key` names the value, and the file or object that has it. GOT
// is `got` as it is, or two quotation marks if `got` is empty. REQUIRES: a value that any user may have
// written has passed through Shown().
inline std::string Refusal(std::string_view key, std::string_view expected, std::string_view got) {
  std::string text(key);
  text.append(": expected ").append(expected).append(", got ");
  return text.append(got.empty() ? "\"\"" : got);
}

}  // namespace crossover::base

// Holds one line of text that says why something is refused, without an allocation. Pure values.
#pragma once

#include <cstddef>
#include <string_view>

#include "common/base/plain_reason.h"

namespace crossover::shrink::vote {

inline constexpr std::size_t kReasonBytes = 128;  // with the closing zero

using base::PlainReason;

// A Reason is one line, "KEY: expected X, got Y". It is empty where nothing is refused.
struct Reason {
  char text[kReasonBytes] = "";
  PlainReason why = PlainReason::kOther;  // the same, as metrics and events name it

  bool empty() const { return text[0] == '\0'; }
  std::string_view view() const { return text; }
};

// Returns the text that printf() would print, cut off where a Reason ends. REQUIRES: its arguments are
// printable.
[[gnu::format(printf, 1, 2)]] Reason MakeReason(const char* format, ...);

// Returns the reason, with what metrics and events name it.
inline Reason As(PlainReason why, Reason reason) {
  reason.why = why;
  return reason;
}

// Returns the text of a field of a message, up to the first zero or the end. Bytes that are not printable
// become question marks.
Reason ReadReason(const char (&field)[kReasonBytes]);

}  // namespace crossover::shrink::vote

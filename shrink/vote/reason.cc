#include "shrink/vote/reason.h"

#include <cstdarg>
#include <cstdio>

namespace crossover::shrink::vote {

Reason MakeReason(const char* format, ...) {
  Reason reason;
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(reason.text, sizeof reason.text, format, arguments);
  va_end(arguments);
  return reason;
}

Reason ReadReason(const char (&field)[kReasonBytes]) {
  Reason reason;
  for (std::size_t i = 0; i + 1 < kReasonBytes && field[i] != '\0'; ++i) {
    reason.text[i] = field[i] >= ' ' && field[i] <= '~' ? field[i] : '?';
  }
  return reason;
}

}  // namespace crossover::shrink::vote

// Lets functions of the library meet what must be reported. PLANTED names the fault. With --wrap the linker
// has two names for a function: __real_ is the function itself, and __wrap_ is called in its place.
#include <stdlib.h>
#include <string.h>

#include <cstdint>

#include "shrink/vote/reason.h"

namespace {

bool Planted(const char* fault) {
  const char* planted = getenv("PLANTED");
  return planted != nullptr && strcmp(planted, fault) == 0;
}

}  // namespace

namespace crossover::shrink::vote {

using Field = char[kReasonBytes];

extern "C" Reason __real__ZN9crossover6shrink4vote10ReadReasonERA128_Kc(const Field& field);
extern "C" Reason __wrap__ZN9crossover6shrink4vote10ReadReasonERA128_Kc(const Field& field);
extern "C" int __real__ZN9crossover6shrink7meeting7MsUntilEl(std::int64_t deadline);
extern "C" int __wrap__ZN9crossover6shrink7meeting7MsUntilEl(std::int64_t deadline);

// A verdict is read from memory that is shorter than its text.
Reason __wrap__ZN9crossover6shrink4vote10ReadReasonERA128_Kc(const Field& field) {
  if (!Planted("heap")) return __real__ZN9crossover6shrink4vote10ReadReasonERA128_Kc(field);
  constexpr std::size_t kBytes = 16;
  void* memory = malloc(kBytes);
  memset(memory, 'x', kBytes);
  const Reason reason =
      __real__ZN9crossover6shrink4vote10ReadReasonERA128_Kc(*static_cast<const Field*>(memory));
  free(memory);
  return reason;
}

// The time that is left is beyond what the type holds.
int __wrap__ZN9crossover6shrink7meeting7MsUntilEl(std::int64_t deadline) {
  return __real__ZN9crossover6shrink7meeting7MsUntilEl(Planted("undefined") ? INT64_MIN : deadline);
}

}  // namespace crossover::shrink::vote

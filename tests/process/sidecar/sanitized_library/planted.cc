// Commits a fault at the end of each turn, for the sanitizer to report. PLANTED names the fault.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar/session/turns.h"

namespace crossover::session {
namespace {

void WriteBehindItsEnd() {
  constexpr std::size_t kBytes = 16;
  auto* volatile memory = static_cast<char*>(malloc(kBytes));
  volatile std::size_t behind = kBytes;
  memory[behind] = 1;
  free(memory);
}

void AddTooMuch() {
  volatile int most = INT_MAX;
  most = most + 1;
}

bool Planted(const char* fault) {
  const char* planted = getenv("PLANTED");
  return planted != nullptr && strcmp(planted, fault) == 0;
}

}  // namespace

// With --wrap the linker has two names for Turns::Release(): __real_ is the function itself, and __wrap_ is
// called in its place.
extern "C" bool __real__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEbNS1_4NextE(
    Turns* turns, const phase::Tracker& tracker, bool capturing, Turns::Next next);
extern "C" bool __wrap__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEbNS1_4NextE(
    Turns* turns, const phase::Tracker& tracker, bool capturing, Turns::Next next) {
  if (Planted("heap")) WriteBehindItsEnd();
  if (Planted("undefined")) AddTooMuch();
  return __real__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEbNS1_4NextE(turns, tracker, capturing,
                                                                                    next);
}

}  // namespace crossover::session

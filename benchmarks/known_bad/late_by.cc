// The fault: each turn is given back CROSSOVER_TEST_LATE_US microseconds late. The GPU is idle for that
// time between the compute of the turn and its release.
#include <cstdlib>
#include <ctime>

#include "sidecar/gates/driver.h"
#include "sidecar/session/streams.h"
#include "sidecar/session/turns.h"

using crossover::gates::Driver;
using crossover::phase::Tracker;
using crossover::session::HandleOf;
using crossover::session::Turns;

namespace {

const Driver* asked = nullptr;  // set before the first turn; guarded by the lock of the only session

// Sleeps, as a host function in stream order.
void Rest(void* late) { nanosleep(static_cast<const timespec*>(late), nullptr); }

timespec* Late() {
  static timespec late = [] {
    const char* text = std::getenv("CROSSOVER_TEST_LATE_US");
    const long us = text != nullptr ? std::strtol(text, nullptr, 10) : 0;
    return timespec{.tv_sec = us / 1'000'000, .tv_nsec = us % 1'000'000 * 1000};
  }();
  return &late;
}

}  // namespace

extern "C" {

void __real__ZN9crossover7session5Turns5SetUpEPKNS_5gates6DriverEP8CUctx_st(Turns* turns,
                                                                            const Driver* driver,
                                                                            CUcontext context);
bool __real__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEbNS1_4NextE(Turns* turns,
                                                                                const Tracker& tracker,
                                                                                bool capturing,
                                                                                Turns::Next next);

void __wrap__ZN9crossover7session5Turns5SetUpEPKNS_5gates6DriverEP8CUctx_st(Turns* turns,
                                                                            const Driver* driver,
                                                                            CUcontext context) {
  asked = driver;
  __real__ZN9crossover7session5Turns5SetUpEPKNS_5gates6DriverEP8CUctx_st(turns, driver, context);
}

bool __wrap__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEbNS1_4NextE(Turns* turns,
                                                                                const Tracker& tracker,
                                                                                bool capturing,
                                                                                Turns::Next next) {
  CUstream stream = nullptr;
  if (!capturing && asked != nullptr && HandleOf(turns->stream(), &stream)) {
    asked->LaunchHostFunc(stream, Rest, Late());
  }
  return __real__ZN9crossover7session5Turns7ReleaseERKNS_5phase7TrackerEbNS1_4NextE(turns, tracker, capturing,
                                                                                    next);
}

}  // extern "C"

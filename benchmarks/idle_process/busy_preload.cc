// Acts like a careless preload in a process that does not use GPUs. With BUSY_SHARE=0.02, a thread works
// for this fraction of the processor time that the program uses itself. With BUSY_INSTRUCTIONS=1000, so
// many instructions run at the start.
#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

double Seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Runs two instructions per round.
void Work(std::uint64_t rounds) {
  if (rounds == 0) return;
#if defined(__x86_64__)
  asm volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds)::"cc");
#elif defined(__aarch64__)
  asm volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds)::"cc");
#else
#error "no work for this architecture"
#endif
}

// Returns the value of the variable, a number from 0 to `most`. Ends the program with one line for anything
// else.
double Read(const char* name, const char* text, double most) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= 0 && value <= most)) {
    std::fprintf(stderr, "busy_preload: %s=%s: expected a number from 0 to %g\n", name, text, most);
    std::exit(2);
  }
  return value;
}

void WorkFor(double share) {
  constexpr std::uint64_t kRounds = 10'000;  // some microseconds
  while (true) {
    const double program_s = Seconds(CLOCK_PROCESS_CPUTIME_ID) - Seconds(CLOCK_THREAD_CPUTIME_ID);
    while (Seconds(CLOCK_THREAD_CPUTIME_ID) < share * program_s) Work(kRounds);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

[[gnu::constructor]] void Start() {
  if (const char* text = std::getenv("BUSY_INSTRUCTIONS"); text != nullptr) {
    Work(static_cast<std::uint64_t>(Read("BUSY_INSTRUCTIONS", text, 1e15)) / 2);
  } else if (const char* share = std::getenv("BUSY_SHARE"); share != nullptr) {
    std::thread(&WorkFor, Read("BUSY_SHARE", share, 1)).detach();
  } else {
    std::fprintf(stderr, "busy_preload: expected BUSY_SHARE or BUSY_INSTRUCTIONS\n");
    std::exit(2);
  }
}

}  // namespace

// What a careless preload does in a process that has nothing to do with GPUs: a thread that works for a share of the
// processor time that the program takes itself. BUSY_SHARE: which, 0 to 1.
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

double Seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Nothing that takes less than some microseconds.
void Work() {
  for (int left = 20'000; left > 0; --left) asm volatile("" : "+r"(left));
}

double Share() {
  const char* text = std::getenv("BUSY_SHARE");
  char* end = nullptr;
  const double share = text == nullptr ? -1 : std::strtod(text, &end);
  if (text == nullptr || end == text || *end != '\0' || !(share >= 0 && share <= 1)) {
    std::fprintf(stderr, "busy_preload: BUSY_SHARE=%s: expected a number from 0 to 1\n", text == nullptr ? "" : text);
    std::exit(2);
  }
  return share;
}

[[gnu::constructor]] void Start() {
  std::thread([share = Share()] {
    while (true) {
      const double program_s = Seconds(CLOCK_PROCESS_CPUTIME_ID) - Seconds(CLOCK_THREAD_CPUTIME_ID);
      while (Seconds(CLOCK_THREAD_CPUTIME_ID) < share * program_s) Work();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }).detach();
}

}  // namespace

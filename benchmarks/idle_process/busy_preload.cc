// What a careless preload does in a process that has nothing to do with GPUs: a thread that looks around, a
// tenth of the time.
#include <chrono>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

[[gnu::constructor]] void Start() {
  std::thread([] {
    while (true) {
      const auto end = Clock::now() + std::chrono::milliseconds(1);
      while (Clock::now() < end) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(9));
    }
  }).detach();
}

}  // namespace

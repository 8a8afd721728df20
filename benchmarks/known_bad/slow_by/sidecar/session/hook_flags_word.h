// Replaces the library's own header. Each launch reads this word, and the read takes as many ns longer as
// CROSSOVER_TEST_SLOW_NS says.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>

namespace crossover::session {

class HookFlagsWord {
 public:
  constexpr explicit HookFlagsWord(std::uint32_t value) : word_(value) {}
  std::uint32_t load(std::memory_order order) const {
    using Clock = std::chrono::steady_clock;
    static const char* const text = std::getenv("CROSSOVER_TEST_SLOW_NS");
    static const std::chrono::nanoseconds longer(text != nullptr ? std::atol(text) : 0);
    const Clock::time_point end = Clock::now() + longer;
    while (Clock::now() < end) {
    }
    return word_.load(order);
  }
  void store(std::uint32_t value, std::memory_order order) { word_.store(value, order); }

 private:
  std::atomic<std::uint32_t> word_;
};

}  // namespace crossover::session

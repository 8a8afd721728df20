// Replaces the library's own header. Each launch reads this word, and the read takes about 4 ns longer. The
// time goes into a loop that the processor cannot overlap with other work for long.
#pragma once

#include <atomic>
#include <cstdint>

namespace crossover::session {

class HookFlagsWord {
 public:
  constexpr explicit HookFlagsWord(std::uint32_t value) : word_(value) {}
  std::uint32_t load(std::memory_order order) const {
    for (int left = kRounds; left > 0; --left) asm volatile("" : "+r"(left));
    return word_.load(order);
  }
  void store(std::uint32_t value, std::memory_order order) { word_.store(value, order); }

 private:
  static constexpr int kRounds = 13;
  std::atomic<std::uint32_t> word_;
};

}  // namespace crossover::session

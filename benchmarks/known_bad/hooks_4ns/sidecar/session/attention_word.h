// In place of the library's own: reading the word that every launch reads takes some 4 ns more, in a loop
// that the processor cannot run beside anything else for long.
#pragma once

#include <atomic>
#include <cstdint>

namespace crossover::session {

class AttentionWord {
 public:
  constexpr explicit AttentionWord(std::uint32_t value) : word_(value) {}
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

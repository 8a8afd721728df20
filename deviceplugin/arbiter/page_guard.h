// Tells when somebody writes where he has no business on a turnstile.
//
// Every client maps the page writable, so that one of them could stop the others. Three things never happen
// by themselves: a word that only the arbiter writes is another than it has written; a word that nobody
// writes is not 0; a counter of turns, which only grows, has gone back. The first two prove it. The third
// does so when it comes again and again: once, it may be a late store of a stream whose client has joined
// anew.
//
// Who it was the page does not tell. Used by the arbiter's thread alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "deviceplugin/arbiter/page.h"
#include "turn/rhythm.h"
#include "turn/words.h"

namespace crossover::arbiter {

class PageGuard {
 public:
  // As `page` stands. It outlives the guard.
  explicit PageGuard(const Page& page);

  // Page::ResetSlot was called.
  void Reset(turn::SlotIndex slot);
  // Stores a word that only the arbiter writes, if it does not have that value.
  void Store(std::uint32_t& word, std::uint32_t value);
  // Looks at the counters of `members`, and now and then at what nobody writes.
  void Look(turn::SlotSet members, turn::Time now);

  // It was written over. Stays so.
  bool damaged() const { return evidence_.word != kNoWord; }
  // What showed it, for people.
  std::string evidence() const;

 private:
  static constexpr std::size_t kWords = sizeof(crossover_page) / sizeof(std::uint32_t);
  static constexpr std::size_t kCounters = 3;

  static constexpr std::size_t kNoWord = kWords;
  struct Evidence {
    std::size_t word = kNoWord;
    std::uint32_t found = 0;
    std::uint32_t belongs = 0;
  };

  std::size_t IndexOf(const std::uint32_t& word) const;
  void Suspect(const std::uint32_t& word, std::uint32_t found, std::uint32_t belongs);
  void LookAtCounters(turn::SlotIndex slot);
  void LookAtConstants();

  const Page& page_;
  std::array<std::uint32_t, kWords> expected_;  // of words that only we write, or nobody
  std::array<std::array<std::uint32_t, kCounters>, turn::kMaxSlots> seen_{};
  turn::Time next_look_ = 0;
  turn::Time window_ = 0;  // in which `went_back_` counts
  int went_back_ = 0;
  Evidence evidence_;  // the first
};

}  // namespace crossover::arbiter

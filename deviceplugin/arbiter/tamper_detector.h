// Detects that a client has written over words of a turnstile that are not its own.
//
// Every client maps the page writable, so one of them could stop the others. The detector looks for three
// things that correct clients never cause:
//
// - A word that only the arbiter writes differs from what the arbiter has written. This is proof.
// - A word that never changes after the page was made has changed. This is proof.
// - A counter of turns, which only grows, has gone back. This is proof only if it happens repeatedly.
//   Once, it may be a late store of a stream whose client has joined anew.
//
// The page does not show which client it was. Not thread-safe: only the arbiter's thread uses a
// TamperDetector.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "deviceplugin/arbiter/page.h"
#include "turn/client_words.h"
#include "turn/timing_model.h"

namespace crossover::arbiter {

class TamperDetector {
 public:
  // Takes the present content of `page` as correct. REQUIRES: `page` outlives the TamperDetector.
  explicit TamperDetector(const Page& page);

  // Takes the present words of `slot` as correct. REQUIRES: the caller has just called Page::ResetSlot().
  void Reset(turn::SlotIndex slot);
  // Checks that a word that only the arbiter writes still has the value that the arbiter stored last, and
  // then stores `value` there, unless the word has it already.
  void Store(std::uint32_t& word, std::uint32_t value);
  // Checks the counters of `members`, and at most every 5 ms the words that never change.
  void Look(turn::SlotSet members, turn::Time now);

  // Returns whether damage was found. It stays true.
  bool damaged() const { return evidence_.word != kNoWord; }
  // Returns the first damage found as text for people, or an empty string.
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
  std::array<std::uint32_t, kWords> expected_;  // what words that no client writes should be
  std::array<std::array<std::uint32_t, kCounters>, turn::kMaxSlots> seen_{};
  turn::Time next_look_ = 0;
  turn::Time window_ = 0;  // when the present window began; went_back_ counts in it
  int went_back_ = 0;
  Evidence evidence_;  // of the first damage
};

}  // namespace crossover::arbiter

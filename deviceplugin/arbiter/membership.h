// Who is on one GPU: slots, names, order. Pure; not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "turn/words.h"

namespace crossover::arbiter {

class Membership {
 public:
  struct Refusal {
    std::string reason;
  };

  Membership();

  // A slot for a client of `gang`, or why there is none. The slot that has been free the longest is taken:
  // the GPU of a killed client may write its words for a while yet.
  std::variant<turn::SlotIndex, Refusal> Join(std::string_view gang);
  void Leave(turn::SlotIndex slot);

  turn::SlotSet members() const { return members_; }
  const std::string& gang(turn::SlotIndex slot) const { return gang_[slot]; }
  // Changes whenever somebody joins or leaves.
  std::uint32_t generation() const { return generation_; }

  // Place of the slot's gang among the names on this GPU, sorted: every arbiter of the same gangs decides
  // alike, without a message.
  std::uint32_t Order(turn::SlotIndex slot) const;

 private:
  std::array<std::string, turn::kMaxSlots> gang_;
  turn::SlotSet members_;
  std::deque<turn::SlotIndex> free_;
  std::uint32_t generation_ = 0;
};

}  // namespace crossover::arbiter

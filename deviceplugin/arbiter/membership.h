// Keeps the gangs on one GPU: their slots, names and order. Pure; not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "turn/client_words.h"

namespace crossover::arbiter {

class Membership {
 public:
  struct Refusal {
    std::string reason;
  };

  Membership();

  // Returns a slot for a client of `gang`, or why there is none. Takes the slot that has been free for the
  // longest time: the GPU of a killed client may still write to the words of its slot for a while.
  std::variant<turn::SlotIndex, Refusal> Join(std::string_view gang);
  void Leave(turn::SlotIndex slot);

  turn::SlotSet members() const { return members_; }
  const std::string& gang(turn::SlotIndex slot) const { return gang_[slot]; }
  // Returns a number that changes whenever a client joins or leaves.
  std::uint32_t generation() const { return generation_; }

  // Returns the place of the slot's gang among the sorted names of the gangs on this GPU. All arbiters of
  // the same gangs compute the same order without a message.
  std::uint32_t Order(turn::SlotIndex slot) const;

 private:
  std::array<std::string, turn::kMaxSlots> gang_;
  turn::SlotSet members_;
  std::deque<turn::SlotIndex> free_;
  std::uint32_t generation_ = 0;
};

}  // namespace crossover::arbiter

#include "deviceplugin/arbiter/membership.h"

namespace crossover::arbiter {

Membership::Membership() {
  for (turn::SlotIndex slot = 0; slot < turn::kMaxSlots; ++slot) free_.push_back(slot);
}

std::variant<turn::SlotIndex, Membership::Refusal> Membership::Join(std::string_view gang) {
  for (const turn::SlotIndex slot : members_) {
    if (gang_[slot] == gang) {
      return Refusal{"gang " + gang_[slot] +
                     " is on this GPU already: only one process of a gang can take turns there"};
    }
  }
  if (free_.empty()) {
    return Refusal{"all " + std::to_string(turn::kMaxSlots) + " slots of this GPU are in use"};
  }
  const turn::SlotIndex slot = free_.front();
  free_.pop_front();
  gang_[slot] = gang;
  members_.Add(slot);
  ++generation_;
  return slot;
}

void Membership::Leave(turn::SlotIndex slot) {
  if (!members_.Has(slot)) return;
  members_.Remove(slot);
  gang_[slot].clear();
  free_.push_back(slot);
  ++generation_;
}

std::uint32_t Membership::Order(turn::SlotIndex slot) const {
  std::uint32_t before = 0;
  for (const turn::SlotIndex other : members_) {
    if (gang_[other] < gang_[slot]) ++before;
  }
  return before;
}

}  // namespace crossover::arbiter

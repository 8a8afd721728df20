// Executes the signaller of the explorer on a World: the rule that ships, one access at a time, or the whole
// follower that ships, at once.
#pragma once

#include "deviceplugin/signaller/follower.h"
#include "tests/unit/turn/explorer_world.h"
#include "turn/signal.h"

namespace crossover::turn::test {

inline void WriteCome(World* world, SlotIndex slot) {
  world->come = static_cast<std::uint8_t>(world->come | 1u << slot);
}

// Begins a look at `slot`.
inline void BeginLook(World* world, SlotIndex slot) {
  world->look = {Look::State::kReads, static_cast<std::uint8_t>(slot), {}};
}

// Executes the next access of a look: it reads a word, or writes the signal.
inline void StepLook(World* world) {
  Look& look = world->look;
  if (look.state == Look::State::kWrites) {
    WriteCome(world, look.slot);
    look = {};
    return;
  }
  GateView view;
  for (bool ended = false; !ended;) {
    ReplayMemory memory(world, &look.replay);
    try {
      view = ViewGate(memory, look.slot);
      ended = true;
    } catch (const Pause&) {
      if (look.replay.accesses < Look::kReadsOfASlot) return;
    }
  }
  const std::uint8_t slot = look.slot;
  look = {};
  if (IsDue(view)) look = {Look::State::kWrites, slot, {}};
}

// A PlainView reads the words of a World at once.
class PlainView {
 public:
  PlainView(const World& world, SlotIndex clients) : world_(world), clients_(clients) {}
  std::uint32_t Load(SlotIndex slot, Word word) const {
    return slot < clients_ ? world_.word[slot][static_cast<int>(word)] : 0;
  }

 private:
  const World& world_;
  SlotIndex clients_;
};

// Lets `follower` look at all slots at `now`, and writes the signals that it names.
inline void FollowAtOnce(signaller::Follower* follower, World* world, SlotIndex clients, Time now) {
  const PlainView view(*world, clients);
  for (const SlotIndex slot : follower->Look(view, now)) WriteCome(world, slot);
}

// Writes the signals of the gates that a CPU has opened, as a signaller that does nothing else.
inline void SignalWoken(World* world) {
  world->come = static_cast<std::uint8_t>(world->come | world->woken);
  world->woken = 0;
}

}  // namespace crossover::turn::test

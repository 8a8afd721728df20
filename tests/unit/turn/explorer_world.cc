#include "tests/unit/turn/explorer_world.h"

#include <cstring>

namespace crossover::turn::test {
namespace {

std::uint64_t Mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h ^= h >> 31;
  h *= 0xbf58476d1ce4e5b9ull;
  return h ^ (h >> 29);
}

// Puts fields side by side into one number. REQUIRES: they have 64 bits together.
class Packed {
 public:
  Packed& Add(std::uint64_t value, int bits) {
    number_ = number_ << bits | value;
    return *this;
  }
  std::uint64_t number() const { return number_; }

 private:
  std::uint64_t number_ = 0;
};

std::uint64_t PackOf(const Client& c) {
  return Packed()
      .Add(c.open, 32)
      .Add(c.yields, 6)
      .Add(c.late, 1)
      .Add(c.alive, 1)
      .Add(c.successor, 8)
      .Add(c.turn, 8)
      .Add(static_cast<std::uint64_t>(c.phase), 4)
      .Add(c.step, 4)
      .number();
}

std::uint64_t PackOfPass(const World& world) {
  return Packed()
      .Add(world.members, 8)
      .Add(world.want, 8)
      .Add(world.suspended, 8)
      .Add(world.replay.accesses, 8)
      .Add(world.kills, 8)
      .Add(world.suspensions, 8)
      .Add(world.preempts, 1)
      .Add(world.in_pass, 1)
      .Add(world.excused, 1)
      .Add(world.arbiter_dead, 1)
      .Add(world.gates_gone, 1)
      .number();
}

std::uint64_t PackOfSignals(const World& world, SlotIndex clients) {
  Packed pack;
  pack.Add(world.signals_kept, 1).Add(world.come, 8).Add(world.woken, 8);
  pack.Add(static_cast<std::uint64_t>(world.look.state), 2).Add(world.look.slot, 2);
  pack.Add(world.look.replay.accesses, 4);
  for (SlotIndex i = 0; i < clients; ++i) {
    for (const Flight flight : world.flight[i]) pack.Add(static_cast<std::uint64_t>(flight), 2);
  }
  return pack.number();
}

}  // namespace

Hash128 HashOf(const World& world, SlotIndex clients) {
  Hash128 h{1, 2};
  const auto add = [&h](std::uint64_t v) {
    h.a = Mix(h.a, v);
    h.b = Mix(h.b, v * 31 + 7);
  };
  for (SlotIndex i = 0; i < clients; ++i) {
    for (std::uint32_t word : world.word[i]) add(word);
    add(world.copy[i]);
    add(PackOf(world.client[i]));
  }
  std::uint64_t token = 0;
  static_assert(sizeof(Token) <= sizeof(token));
  std::memcpy(&token, &world.token, sizeof(Token));
  add(token);
  add(PackOfPass(world));
  for (int i = 0; i < world.replay.accesses; ++i) add(world.replay.read[i]);
  add(PackOfSignals(world, clients));
  for (int i = 0; i < world.look.replay.accesses; ++i) add(world.look.replay.read[i]);
  return h;
}

}  // namespace crossover::turn::test

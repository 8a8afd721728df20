#include "tests/unit/shrink/vote/world.h"

namespace crossover::shrink::vote::test {
namespace {

// Puts numbers of a few bits side by side. A Key has room for four ranks.
class Packer {
 public:
  void Add(std::uint64_t value, unsigned bits) {
    if (used_ + bits > 64) {
      key_.b = word_;
      word_ = 0;
      used_ = 0;
    }
    word_ = word_ << bits | value;
    used_ += bits;
  }
  Key Take() {
    key_.a = word_;
    return key_;
  }

 private:
  Key key_;
  std::uint64_t word_ = 0;
  unsigned used_ = 0;
};

}  // namespace

Key Model::KeyOf(const World& world) const {
  Packer packer;
  packer.Add(static_cast<std::uint64_t>(world.collector.phase), 2);
  packer.Add(world.collector.counted, 3);
  packer.Add(world.collector.budget_mib, 3);
  packer.Add(world.impostor_spoke, 1);
  packer.Add(world.collector_runs, 1);
  packer.Add(world.collector_dead, 1);
  for (std::uint32_t rank = 1; rank < options_.ranks; ++rank) {
    const Link& link = world.link[rank];
    for (const bool flag : {link.connected, link.greeted, link.counted, link.told, link.broken, link.closed,
                            link.unsent, world.seats[rank] == Seat::kCounted})
      packer.Add(flag, 1);
    packer.Add(static_cast<std::uint64_t>(world.voter[rank].phase), 3);
    packer.Add(world.voter[rank].budget_mib, 3);
    for (const Message message : {link.to_rank[0], link.to_rank[1], link.to_collector})
      packer.Add(static_cast<std::uint64_t>(message), 2);
    packer.Add(link.budget, 3);
  }
  return packer.Take();
}

}  // namespace crossover::shrink::vote::test

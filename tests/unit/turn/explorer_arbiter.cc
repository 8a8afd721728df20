#include "tests/unit/turn/explorer_arbiter.h"

namespace crossover::turn::test {
namespace {

using Memory = ReplayMemory<kMaxAccesses>;

// A BadMemory makes the arbiter known-bad: it returns old values instead of reading again, or stores to
// gates instead of swapping them.
class BadMemory {
 public:
  BadMemory(Memory* memory, const ExplorerOptions& options, const Snapshot* seen)
      : memory_(memory), options_(options), seen_(seen) {}
  std::uint32_t Load(SlotIndex slot, Word word) {
    if (options_.bad_single_collect && !swapped_) return Seen(slot, word);
    if (options_.bad_blind_revoke && word == Word::kReady && swapped_) return seen_->client[slot].hold;
    return memory_->Load(slot, word);
  }
  bool SwapGate(SlotIndex slot, std::uint32_t expected, std::uint32_t desired) {
    if (options_.bad_blind_swap) return memory_->StoreGate(slot, desired);
    const bool swapped = memory_->SwapGate(slot, expected, desired);
    swapped_ = true;
    return swapped;
  }

 private:
  std::uint32_t Seen(SlotIndex slot, Word word) const {
    const ClientWords& words = seen_->client[slot];
    switch (word) {
      case Word::kReady:
        return words.ready;
      case Word::kHold:
        return words.hold;
      case Word::kRel:
        return words.rel;
      case Word::kGate:
        return words.gate;
    }
    return 0;
  }
  Memory* memory_;
  const ExplorerOptions& options_;
  const Snapshot* seen_;
  bool swapped_ = false;
};

template <class Any>
void PreemptHolder(Any& memory, SlotSet members, const Snapshot& seen) {
  const SlotIndex holder = Token::Find(seen, members).holder;
  if (holder != kNobody) Token::Preempt(memory, holder, seen.client[holder]);
}

}  // namespace

void BeginPass(World* world, std::uint8_t want, bool preempts) {
  world->in_pass = true;
  world->want = want;
  world->preempts = preempts;
}

bool StepArbiter(const ExplorerOptions& options, World* world) {
  Memory memory(world, &world->replay);
  Token token = world->token;
  try {
    const SlotSet members(world->members);
    Snapshot seen;
    Collect(memory, members, &seen);
    const SlotIndex want = world->want < options.clients ? world->want : kNobody;
    if (options.bad_blind_revoke || options.bad_single_collect || options.bad_blind_swap) {
      BadMemory bad(&memory, options, &seen);
      token.Step(bad, members, seen, want);
      if (world->preempts) PreemptHolder(bad, members, seen);
    } else {
      token.Step(memory, members, seen, want);
      if (world->preempts) PreemptHolder(memory, members, seen);
    }
  } catch (const Pause&) {
    return false;
  }
  world->token = token;
  EndPass(world);
  return true;
}

void EndPass(World* world) {
  world->in_pass = false;
  world->preempts = false;
  world->replay = {};
  world->want = 0;
}

}  // namespace crossover::turn::test

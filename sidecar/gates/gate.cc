#include "sidecar/gates/gate.h"

#include "common/base/futex.h"

namespace crossover::gates {

Handover ChooseHandover(const crossover_page* page, turn::SlotIndex self, turn::TurnNumber k) {
  const std::uint32_t turns = turn::TurnsOf(base::LoadWord(&page->slot[self].turns));
  turn::SlotIndex successor = base::LoadWord(&page->slot[self].successor[turn::PositionOf(k, turns)]);
  if (successor >= CROSSOVER_MAX_CLIENTS) successor = self;
  return {successor, turn::OpenFor(self, k, successor, base::LoadWord(&page->slot[successor].ready))};
}

Handover KeepTurn(turn::SlotIndex self, turn::TurnNumber k) {
  return {self, turn::OpenFor(self, k, self, 0)};
}

std::uint32_t* WordOf(crossover_page* page, turn::SlotIndex slot, turn::Word word) {
  crossover_slot& line = page->slot[slot];
  switch (word) {
    case turn::Word::kReady:
      return &line.ready;
    case turn::Word::kHold:
      return &line.hold;
    case turn::Word::kRel:
      return &line.rel;
    case turn::Word::kGate:
      break;
  }
  return &line.gate;
}

void WriteOnHost(crossover_page* page, const turn::Op& op) {
  std::uint32_t* word = WordOf(page, op.slot, op.word);
  base::StoreWord(word, op.value);
  base::FutexWakeAll(word);
}

void OpenOwnGate(crossover_page* page, turn::SlotIndex self, turn::TurnNumber about) {
  base::StoreWord(&page->slot[self].gate, turn::OpenAny(about));
  base::FutexWakeAll(&page->slot[self].gate);
}

}  // namespace crossover::gates

#include "sidecar/gates/gate.h"

#include "common/base/futex.h"

namespace crossover::gates {

Handover ChooseHandover(const crossover_page* page, turn::SlotIndex self, turn::TurnNumber k) {
  turn::SlotIndex successor = base::LoadWord(&page->slot[self].successor);
  if (successor >= CROSSOVER_MAX_CLIENTS) successor = self;
  return {successor, turn::OpenFor(self, k, successor, base::LoadWord(&page->slot[successor].ready))};
}

void OpenOwnGate(crossover_page* page, turn::SlotIndex self, turn::TurnNumber about) {
  base::StoreWord(&page->slot[self].gate, turn::OpenAny(about));
  base::FutexWakeAll(&page->slot[self].gate);
}

}  // namespace crossover::gates

#include "sidecar/arbiter_client/leave.h"

#include <time.h>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "common/base/timespec.h"
#include "sidecar/gates/gate.h"

namespace crossover::arbiter_client {
namespace {

// Opens this client's gate every millisecond until no stream waits there, for about a second at most. It
// repeats this because a stream shuts the gate after it has passed, by a store that may arrive after ours.
// The limit is there because another process may write over the words, which then never show that no stream
// waits. Returns whether the gate had to be opened.
bool OpenUntilNobodyWaits(const Client& client, const Membership& membership) {
  constexpr int kRounds = 1000;
  const crossover_slot* slot = &membership.page->slot[membership.slot];
  for (int round = 0; round < kRounds; ++round) {
    if (turn::AtOrPast(base::LoadWord(&slot->hold), client.Asked())) return round > 0;
    gates::OpenOwnGate(membership.page, membership.slot, client.Asked());
    const timespec pause = base::TimespecOf(base::kNsPerMs);
    ::nanosleep(&pause, nullptr);
  }
  return true;
}

void CountFault(const Membership& membership) {
  std::uint32_t* const faults = &membership.page->slot[membership.slot].faults;
  base::StoreWord(faults, base::LoadWord(faults) + 1);
}

}  // namespace

void LetGo(Client* client, const Membership& membership, AbandonedPages* pages) {
  const bool opened = OpenUntilNobodyWaits(*client, membership);
  if (opened) CountFault(membership);
  pages->Add(membership, client->Asked());
  client->Detach();
  if (OpenUntilNobodyWaits(*client, membership) && !opened) CountFault(membership);
  pages->Add(membership, client->Asked());
}

}  // namespace crossover::arbiter_client

// One GPU's turnstile as its arbiter runs it: token, order and watchdog put together.
//
// The arbiter polls: a GPU that writes a word wakes nobody. Poll reads the words, learns, corrects, and says
// when it wants to be called next. Between polls the clients hand over to each other without it.
//
// Not thread-safe: one thread per turnstile, or one lock around it. No clock, no I/O but Memory, no
// allocation.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "turn/guard.h"
#include "turn/policy.h"
#include "turn/token.h"
#include "turn/watchdog.h"
#include "turn/words.h"

namespace crossover::turn {

struct Settings {
  PolicySettings policy;
  WatchdogSettings watchdog;
  Time poll_idle = 100'000;      // between turns: the price of an arrival that was not expected
  Time poll_held_min = 100'000;  // inside a turn: a fiftieth of its learned length, within these
  Time poll_held_max = 1'000'000;
  Time opener_repeat = 200'000;  // while waits of clients that take no turns are outstanding
};

struct Stats {
  // What the guard makes of the GPU; rates as it knows them, 0 while it does not.
  Way way = Way::kTurns;
  double rate_by_turns = 0, rate_side_by_side = 0;
  std::uint64_t trials = 0;
  Time looked = 0, lost = 0;  // what they took in other ways than the one chosen, and what that cost
  std::uint64_t turns = 0;
  std::uint64_t handed_over = 0;  // turns begun without the arbiter's help
  std::uint64_t granted = 0;      // turns begun at a gate that the arbiter opened
  std::uint64_t preempted = 0;    // turns broken at a yield point
  std::uint64_t revoked = 0;
  std::uint64_t minted = 0;
  std::uint64_t swallowed = 0;
  std::uint64_t opened = 0;     // holders that the watchdog let others in beside
  std::uint64_t held_back = 0;  // arrivals kept waiting for a preferred client
  Time rest_while_ready = 0;    // the token unused while somebody waited
};

struct Event {
  enum class Kind : std::uint8_t { kArrive, kHold, kRelease, kGrant, kRevoke, kMint, kSwallow, kOpen };
  Kind kind;
  SlotIndex slot;
  Time at;        // when the poll saw it
  Time duration;  // kHold: the wait before it; kRelease: the turn, or its stretch; else 0
  // kRelease: a whole turn that ended, in all its stretches; kArrive: the absence since the turn before.
  // kNever where that is not known, tells nothing, or turns last until their collectives have ended.
  Time whole = kNever;
  // With `whole`: of which iteration, by the job's own number, and where in it.
  std::uint32_t iteration = 0;
  std::uint32_t position = 0;
  std::uint32_t turns = 1;
};

class Turnstile {
 public:
  explicit Turnstile(const Settings& settings = {})
      : settings_(settings), policy_(settings.policy), watchdog_(settings.watchdog) {}

  // A client is on the GPU. `order` is the place of its gang's name among those of all clients.
  void Join(SlotIndex slot, std::uint32_t order);
  void SetOrder(SlotIndex slot, std::uint32_t order) { policy_.SetOrder(slot, order); }
  // How many turns its iteration has, as it says: whatever a word can hold.
  void SetTurns(SlotIndex slot, std::uint32_t turns) { policy_.SetTurns(slot, turns); }
  void SetIterationOffset(SlotIndex slot, std::uint32_t offset) { policy_.SetIterationOffset(slot, offset); }
  void SetPriority(SlotIndex slot, Priority priority) { policy_.SetPriority(slot, priority); }
  void SetCap(SlotIndex slot, double cap) { policy_.SetCap(slot, cap); }
  void SetKnown(SlotIndex slot, const Demand& demand) { policy_.SetKnown(slot, demand); }
  // Whether turns last until their collectives have ended: see turn/policy.h and turn/watchdog.h.
  void SetTurnsLast(bool last);
  void SetOwner(SlotIndex slot) { policy_.SetOwner(slot); }
  // It is gone: closed, killed or thrown out. A token it had is replaced at the next poll.
  void Leave(SlotIndex slot);
  // Whether it takes turns. Waits still outstanding of one that does not are opened, again and again.
  void SetGated(SlotIndex slot, bool gated);
  void set_settings(const Settings& settings);

  // One pass; `now` must not go back. Returns when the next is wanted, kNever if not before a change of
  // membership. To be called early, too, when something is known to have changed.
  template <class Memory>
  Time Poll(Memory& memory, Time now);

  // To whom `slot` should hand over at the end of its turn `k`. Only a hint: a wrong one costs time.
  SlotIndex successor(SlotIndex slot, TurnNumber k) const;
  // How long the stretches of `slot` should be in its turns at a place of the iteration; 0: they need no
  // yield points.
  Time stretch_wanted(SlotIndex slot, std::uint32_t position) const {
    return policy_.StretchWanted(active(), slot, position);
  }
  SlotSet gated() const { return gated_; }
  SlotSet present() const { return present_; }
  SlotSet offenders() const { return watchdog_.offenders(); }
  const Stats& stats() const { return stats_; }
  const Policy& policy() const { return policy_; }

  // Events since the last call, oldest first; the newest are dropped when more than kMaxEvents come
  // between two calls. Valid until the next Poll.
  static constexpr std::size_t kMaxEvents = 64;
  std::span<const Event> TakeEvents();

 private:
  void Watch(const Snapshot& seen, Time now);
  void Note(Event::Kind kind, SlotIndex slot, Time at, Time duration = 0) {
    Note({kind, slot, at, duration});
  }
  void Note(const Event& event);
  Event WithWhole(Event event, Time whole) const;
  void NoteStep(const Token::Report& report, const Snapshot& seen, Time now);
  template <class Memory>
  void OpenUngated(Memory& memory, bool* outstanding);
  template <class Memory>
  void Readmit(Memory& memory);
  SlotSet active() const { return SlotSet(gated_.bits() & ~watchdog_.suspended().bits()); }
  template <class Memory>
  void Preempt(Memory& memory, SlotIndex holder, const ClientWords& seen, Time now);
  bool Overruns(SlotIndex holder, const Snapshot& seen, Time now) const;
  void Suspend(SlotIndex holder, const Snapshot& seen, Time now);
  Time NextPoll(const Token::Place& place, const Policy::Wish& wish, bool outstanding, Time now) const;

  Settings settings_;
  Token token_;
  Policy policy_;
  Watchdog watchdog_;
  SlotSet present_;
  SlotSet gated_;
  SlotSet holders_;         // as of the last poll, without the suspended
  bool surplus_ = false;    // several of them, at the last two polls
  SlotSet preempted_;       // their tokens are to be replaced as soon as they wait at their yield point
  SlotSet arbiter_opened_;  // their next turn counts as granted
  Time last_poll_ = kNever;
  Time due_ = kNever;  // the next
  bool rested_ = false;
  Stats stats_;
  std::array<Event, kMaxEvents> events_;
  std::size_t event_count_ = 0;
  bool events_taken_ = false;
};

template <class Memory>
void Turnstile::OpenUngated(Memory& memory, bool* outstanding) {
  for (SlotIndex slot : present_) {
    if (gated_.Has(slot)) continue;
    const ClientWords words = ReadClient(memory, slot);
    if (!words.waiting()) continue;
    *outstanding = true;
    if (!words.open()) memory.SwapGate(slot, words.gate, OpenAny(words.next()));
  }
}

template <class Memory>
void Turnstile::Readmit(Memory& memory) {
  for (SlotIndex slot : watchdog_.suspended()) watchdog_.See(slot, ReadClient(memory, slot));
}

template <class Memory>
void Turnstile::Preempt(Memory& memory, SlotIndex holder, const ClientWords& seen, Time now) {
  if (Token::Preempted(seen)) return;
  if (!policy_.ShouldPreempt(active(), holder, now) || !Token::Preempt(memory, holder, seen)) return;
  preempted_.Add(holder);
}

template <class Memory>
Time Turnstile::Poll(Memory& memory, Time now) {
  bool outstanding = false;
  OpenUngated(memory, &outstanding);
  Readmit(memory);
  watchdog_.Forgive(present_, now);
  if (due_ != kNever) watchdog_.Polled(due_, now);
  watchdog_.NameStuck(now);

  Snapshot seen;
  Collect(memory, gated_, &seen);
  Watch(seen, now);
  Token::Place place = Token::Find(seen, active());
  if (place.holder != kNobody && Overruns(place.holder, seen, now)) {
    Suspend(place.holder, seen, now);
    place = Token::Find(seen, active());
  }
  Policy::Wish wish;
  if (place.holder == kNobody) wish = policy_.Want(active(), now);
  // A lost token needs a place even where the policy has no wish.
  if (wish.slot == kNobody && place.visible == 0) wish.slot = policy_.First(active());

  NoteStep(token_.Step(memory, active(), seen, wish.slot), seen, now);
  if (place.holder != kNobody) Preempt(memory, place.holder, seen.client[place.holder], now);
  if (wish.holds_back) ++stats_.held_back;
  last_poll_ = now;
  due_ = NextPoll(place, wish, outstanding, now);
  return due_;
}

}  // namespace crossover::turn

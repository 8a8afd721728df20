// Runs one GPU's turnstile for the arbiter: combines the token, the order of turns and the watchdog.
//
// The arbiter polls, because a GPU that writes a word wakes no thread. Poll() reads the words, learns from
// them, corrects the token, and returns when it should be called next. Between polls the clients hand the
// turn over to each other without the arbiter.
//
// Not thread-safe: use one thread per turnstile, or one lock around it. Reads no clock, does no I/O except
// through Memory, and allocates nothing.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "turn/client_words.h"
#include "turn/guard.h"
#include "turn/policy.h"
#include "turn/slices.h"
#include "turn/token.h"
#include "turn/watchdog.h"

namespace crossover::turn {

struct Settings {
  PolicySettings policy;
  WatchdogSettings watchdog;
  Time poll_idle = 100'000;      // between turns; an unexpected arrival waits up to this long
  Time poll_held_min = 100'000;  // in a turn: a fiftieth of its learned length, within these bounds
  Time poll_held_max = 1'000'000;
  Time opener_repeat = 200'000;  // while clients that take no turns still wait at a gate
};

struct Stats {
  // The guard has chosen this way of sharing and has measured these rates; a rate is 0 while unknown.
  Way way = Way::kTurns;
  double rate_by_turns = 0, rate_side_by_side = 0;
  std::uint64_t trials = 0;
  Time looked = 0, lost = 0;  // time of looks in other ways than the chosen one, and its cost
  std::uint64_t turns = 0;
  std::uint64_t handed_over = 0;  // turns that began without the arbiter's help
  std::uint64_t granted = 0;      // turns that began at a gate that the arbiter opened
  std::uint64_t preempted = 0;    // turns broken at a yield point
  std::uint64_t revoked = 0;
  std::uint64_t minted = 0;
  std::uint64_t swallowed = 0;
  std::uint64_t opened = 0;     // holders beside which the watchdog let other clients in
  std::uint64_t held_back = 0;  // arrivals that waited for a preferred client
  Time rest_while_ready = 0;    // time in which a client waited and the token was unused
};

struct Event {
  enum class Kind : std::uint8_t { kArrive, kHold, kRelease, kGrant, kRevoke, kMint, kSwallow, kOpen };
  Kind kind;
  SlotIndex slot;
  Time at;        // when the poll saw the event
  Time duration;  // kHold: the wait before it; kRelease: the turn or its stretch; else 0
  // With kRelease, `whole` is the length of a turn that ended, with all its stretches. With kArrive, it is
  // the time since the client's previous turn. It is kNever if it is unknown or not representative, or if
  // turns last until their collectives have ended.
  Time whole = kNever;
  // With `whole`, these are the number of the job's own iteration, the turn's position in it, and its
  // number of turns.
  std::uint32_t iteration = 0;
  std::uint32_t position = 0;
  std::uint32_t turns = 1;
};

class Turnstile {
 public:
  explicit Turnstile(const Settings& settings = {})
      : settings_(settings), policy_(settings.policy), watchdog_(settings.watchdog) {}

  // Adds a client of the GPU, without turns until SetGated(). `order` is the rank of its gang's name among
  // the names of all clients' gangs.
  void Join(SlotIndex slot, std::uint32_t order);
  void SetOrder(SlotIndex slot, std::uint32_t order) { policy_.SetOrder(slot, order); }
  // Sets how many turns the client's iteration has. `turns` is the client's claim and may have any value.
  void SetTurns(SlotIndex slot, std::uint32_t turns) { policy_.SetTurns(slot, turns); }
  void SetIterationOffset(SlotIndex slot, std::uint32_t offset) { policy_.SetIterationOffset(slot, offset); }
  void SetPriority(SlotIndex slot, Priority priority) { policy_.SetPriority(slot, priority); }
  void SetCap(SlotIndex slot, double cap) { policy_.SetCap(slot, cap); }
  void SetKnown(SlotIndex slot, const Demand& demand) { policy_.SetKnown(slot, demand); }
  void Forget(SlotIndex slot) { policy_.Forget(slot); }
  // Says whether turns last until their collectives have ended: see turn/policy.h and turn/watchdog.h.
  void SetTurnsLast(bool last);
  void SetOwner(SlotIndex slot) { policy_.SetOwner(slot); }
  // Says whether clients whose turns last may keep the token for slices (turn/slices.h). slices() tells
  // whether they do, and what has ended slices.
  void AllowSlices(bool allowed) { slices_.Allow(allowed); }
  const Slices& slices() const { return slices_; }
  // Removes a client that has closed its connection, was killed or was expelled. The next poll replaces a
  // token that it had.
  void Leave(SlotIndex slot);
  // Says whether the client takes turns. A client that stops taking turns may still have waits queued: Poll()
  // opens its gate repeatedly until it waits no more.
  void SetGated(SlotIndex slot, bool gated);
  void set_settings(const Settings& settings);

  // Makes one pass over the words. Returns when the next pass is due, or kNever if none is due before a
  // client joins, leaves or changes. Callers may call it earlier when they know of a change. REQUIRES:
  // `now` does not go back.
  template <class Memory>
  Time Poll(Memory& memory, Time now);

  // Returns the client to which `slot` should hand over at the end of its turn `k`. It is only a hint: a
  // wrong one costs time and does no harm.
  SlotIndex successor(SlotIndex slot, TurnNumber k) const;
  // Returns how long the stretches of `slot` should be in its turns at `position` of the iteration. 0:
  // these turns need no yield points.
  Time stretch_wanted(SlotIndex slot, std::uint32_t position) const {
    return policy_.StretchWanted(active(), slot, position);
  }
  SlotSet gated() const { return gated_; }
  SlotSet present() const { return present_; }
  SlotSet offenders() const { return watchdog_.offenders(); }
  const Stats& stats() const { return stats_; }
  const Policy& policy() const { return policy_; }

  // Returns the events since the last call, oldest first. The newest events are dropped if more than
  // kMaxEvents occur between two calls. The result is valid until the next Poll().
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
  // Rivals tells about the clients other than the holder of a turn.
  struct Rivals {
    bool wait = false;       // at least one of them waits
    bool come_later = true;  // the holder goes before all that wait
    Time longest = kNever;   // the longest learned turn that the watchdog's bound depends on
  };
  Rivals RivalsOf(SlotIndex holder, const Snapshot& seen) const;
  void GoOnAfterSlice(const Snapshot& seen, Time now);
  void WatchSlice(SlotIndex holder, const Rivals& rivals, Time now);
  bool SliceGoesOn(const Token::Place& place, const Snapshot& seen, Time now);
  bool Overruns(SlotIndex holder, const Rivals& rivals, Time now) const;
  void Suspend(SlotIndex holder, const Snapshot& seen, Time now);
  Time NextPoll(const Token::Place& place, const Policy::Choice& choice, bool outstanding, Time now) const;

  Settings settings_;
  Token token_;
  Policy policy_;
  Watchdog watchdog_;
  Slices slices_;
  SlotSet present_;
  SlotSet gated_;
  SlotSet holders_;         // at the last poll, without suspended clients
  bool surplus_ = false;    // several holders at each of the last two polls
  SlotSet preempted_;       // clients whose token is replaced as soon as they wait at their yield point
  SlotSet arbiter_opened_;  // clients whose next turn counts as granted
  Time last_poll_ = kNever;
  Time due_ = kNever;  // when the next poll is due
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
  GoOnAfterSlice(seen, now);
  Token::Place place = Token::Find(seen, active());
  if (place.holder != kNobody) {
    const Rivals rivals = RivalsOf(place.holder, seen);
    WatchSlice(place.holder, rivals, now);
    if (Overruns(place.holder, rivals, now)) {
      Suspend(place.holder, seen, now);
      place = Token::Find(seen, active());
    }
  }
  Policy::Choice choice;
  if (place.holder == kNobody && !SliceGoesOn(place, seen, now)) choice = policy_.Want(active(), now);
  // A lost token needs a place even if the policy has no preference.
  if (choice.slot == kNobody && place.visible == 0) choice.slot = policy_.First(active());

  NoteStep(token_.Step(memory, active(), seen, choice.slot), seen, now);
  if (place.holder != kNobody) Preempt(memory, place.holder, seen.client[place.holder], now);
  if (choice.holds_back) ++stats_.held_back;
  last_poll_ = now;
  due_ = NextPoll(place, choice, outstanding, now);
  return due_;
}

}  // namespace crossover::turn

// When a turn has lasted too long, and what becomes of whoever holds it.
//
// A holder may be stopped, stuck or hostile. The bound is on the holder alone: four times its own learned
// turn, never under a floor that a loaded machine reaches by itself. Past it the holder is suspended: the
// others go round without it until it gives that turn back. A client that overruns twice is named as an
// offender, for the membership to ungate. What lies further back than `forgive` is forgotten, and an offender
// is tried again after as long: once more, and it is named again.
// Whoever never gives it back is named as well, after fifty times the floor.
//
// Only time in which the arbiter itself ran counts. Polls that come late show a machine that stands still, or
// a daemon that was throttled or stopped: the holder may have had no more of it.
//
// Where turns last until their collectives have ended, the holder probably waits for a rank of its own that
// stands behind another job on another GPU, whose rank waits here. So the bound is the same for all clients
// of the GPU, and twice as long for whoever goes before all that wait: only one of the two GPUs changes over.
// The others have one turn, then it is the holder's again, once: if it is still there at the next bound it is
// stuck by itself. And it takes four times as many offences to be named.
//
// Pure: time comes in. Not thread-safe. Trivially copyable.
#pragma once

#include <cstdint>

#include "turn/rhythm.h"

namespace crossover::turn {

struct WatchdogSettings {
  Time floor = 200'000'000;
  std::int64_t factor = 4;
  std::uint32_t offences = 2;
  Time forgive = 300'000'000'000;
  Time late = 5'000'000;  // a poll later than this shows that time was lost; less is ordinary scheduling
};

class Watchdog {
 public:
  explicit Watchdog(const WatchdogSettings& settings = {}) : settings_(settings) {}
  void set_settings(const WatchdogSettings& settings) { settings_ = settings; }
  void set_turns_last(bool last) { turns_last_ = last; }
  bool turns_last() const { return turns_last_; }

  // Nothing is held against the client any more.
  void Forget(SlotIndex slot);
  void Readmit(SlotIndex slot) { suspended_.Remove(slot); }

  // A poll wanted at `due` came at `now`.
  void Polled(Time due, Time now) {
    if (now - due > settings_.late) lost_ += now - due;
  }
  // It was let in.
  void Held(SlotIndex slot) { client_[slot].lost = lost_; }
  // Whether `holder`, let in at `held`, is past its bound. `longest`: the longest learned turn of the holder
  // or, where turns last, of all clients; kNever while unknown. `goes_first`: before all that wait.
  bool Over(SlotIndex holder, Time held, Time longest, bool goes_first, Time now) const;
  // Suspends it in its turn `k`. Not `blamed`: a newcomer, of whom nobody could know how long its turns are.
  void Suspend(SlotIndex holder, TurnNumber k, bool blamed, Time now);
  // What is seen of a suspended client: it is back once it has given that turn back.
  void See(SlotIndex slot, const ClientWords& words);
  // Somebody who is not suspended has had a turn.
  void TurnEnded(Time now);
  void Forgive(SlotSet present, Time now);
  // Names those that are still in the turn in which they were suspended. Not where turns last: there they may
  // wait for another GPU.
  void NameStuck(Time now);

  SlotSet suspended() const { return suspended_; }
  // Clients that overran their bound as often as the settings allow.
  SlotSet offenders() const { return offenders_; }

 private:
  struct Client {
    std::uint32_t offences = 0;
    Time offended = 0;   // when last
    Time suspended = 0;  // likewise
    Time lost_when_suspended = 0;
    TurnNumber turn = 0;   // in which it was suspended last
    bool resumed = false;  // in that turn
    Time resumed_at = 0;
    Time lost = 0;  // by the arbiter, until its bound began
  };
  std::uint32_t Allowed() const { return settings_.offences * (turns_last_ ? 4 : 1); }

  WatchdogSettings settings_;
  bool turns_last_ = false;
  Time lost_ = 0;
  SlotSet suspended_;
  SlotSet offenders_;
  Client client_[kMaxSlots];
};

}  // namespace crossover::turn

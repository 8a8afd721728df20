// Decides when a turn has lasted too long, and what happens to its holder.
//
// A holder may be stopped, stuck or hostile. The bound depends on the holder alone: four times its own
// learned turn, but at least a floor that a loaded machine reaches by itself. A holder past its bound is
// suspended: the other clients take turns without it until it gives that turn back. A client that overruns
// twice is named as an offender, and the arbiter then ungates it. Offences older than `forgive` are
// forgotten. An offender gets another chance after the same time: one more offence names it again. A client
// that never gives its turn back is named too, after fifty times the floor.
//
// Only time in which the arbiter itself ran counts. Late polls show that the machine stood still, or that
// the daemon was throttled or stopped: the holder may not have run either.
//
// If turns last until their collectives have ended, a holder past its bound probably waits for a rank of its
// own job on another GPU. That rank waits behind another job, whose rank waits here. Then other rules hold:
//
// - The bound is the same for all clients of the GPU. It is twice as long for a client that goes before all
//   waiting ones, so that only one of the two GPUs changes its order.
// - The other clients have one turn, and then the suspended holder continues, once. If it is past its bound
//   again, it is stuck by itself and stays suspended.
// - The watchdog names a client only after four times as many offences.
//
// Pure: the caller passes the time. Not thread-safe. Trivially copyable.
#pragma once

#include <cstdint>

#include "turn/timing_model.h"

namespace crossover::turn {

// WatchdogSettings holds the bounds and times of the watchdog.
struct WatchdogSettings {
  Time floor = 200'000'000;
  std::int64_t factor = 4;
  std::uint32_t offences = 2;
  Time forgive = 300'000'000'000;
  Time late = 5'000'000;  // a poll later than this shows lost time; less is ordinary scheduling
};

class Watchdog {
 public:
  explicit Watchdog(const WatchdogSettings& settings = {}) : settings_(settings) {}
  void set_settings(const WatchdogSettings& settings) { settings_ = settings; }
  void set_turns_last(bool last) { turns_last_ = last; }
  bool turns_last() const { return turns_last_; }

  // Forgets everything about the client.
  void Forget(SlotIndex slot);
  void Readmit(SlotIndex slot) { suspended_.Remove(slot); }
  // Notes that another client, which had its slice beside this one, handed the token to this client in its
  // turn `k`: this client continues, and its bound begins anew. This has an effect once per turn. Otherwise a
  // client that opens its own gate would keep the turn forever.
  void HandedOver(SlotIndex slot, TurnNumber k, Time now);

  // Notes that a poll due at `due` came at `now`. A delay of more than `late` counts as time in which the
  // arbiter did not run.
  void Polled(Time due, Time now) {
    if (now - due > settings_.late) lost_ += now - due;
  }
  // Notes that the client was let in.
  void Held(SlotIndex slot) { client_[slot].lost = lost_; }
  // Returns whether `holder`, let in at `held`, is past its bound. `longest` is the longest learned turn of
  // the holder or, if turns last, of all clients; kNever while unknown. `goes_first` says that the holder
  // goes before all waiting clients.
  bool Over(SlotIndex holder, Time held, Time longest, bool goes_first, Time now) const;
  // Returns whether the turn has lasted for three quarters of its bound: it is probably stuck, and will soon
  // be past its bound here or on another GPU.
  bool Lags(SlotIndex holder, Time held, Time longest, Time now) const;
  // Suspends the holder in its turn `k`. `blamed` counts that as an offence; the caller passes false for a
  // newcomer, whose turn length is not known yet. A second suspension in the same turn is no new offence.
  void Suspend(SlotIndex holder, TurnNumber k, bool blamed, Time now);
  // Observes a suspended client, and readmits it once it has given that turn back.
  void See(SlotIndex slot, const ClientWords& words);
  // Notes that a client that is not suspended has given its turn back. If turns last, the suspended clients
  // then continue theirs, once each.
  void TurnEnded(Time now);
  // Forgets old offences of `present` clients, and clears offenders after the same time.
  void Forgive(SlotSet present, Time now);
  // Names the clients that are still in the turn in which they were suspended. Does nothing if turns last:
  // those clients may wait for another GPU.
  void NameStuck(Time now);

  SlotSet suspended() const { return suspended_; }
  // Returns the clients that overran their bound as often as the settings allow.
  SlotSet offenders() const { return offenders_; }

 private:
  struct Client {
    std::uint32_t offences = 0;
    Time offended = 0;   // time of the last offence
    Time suspended = 0;  // time of the last suspension
    Time lost_when_suspended = 0;
    TurnNumber turn = 0;   // the turn in which it was suspended last
    bool resumed = false;  // the client has continued that turn once
    Time resumed_at = 0;
    TurnNumber handed = 0;  // the turn in which it was handed the token last
    Time lost = 0;          // the watchdog's lost_ when the bound began
  };
  // Lets a client continue the turn in which it was suspended.
  void Resume(SlotIndex slot, Time now);
  // Bound() returns the bound that follows from the longest learned turn. Ran() returns how long the holder
  // has had its turn since it was let in or continued, without the time in which the arbiter did not run.
  Time Bound(Time longest) const;
  Time Ran(SlotIndex holder, Time held, Time now) const;
  std::uint32_t Allowed() const { return settings_.offences * (turns_last_ ? 4 : 1); }

  WatchdogSettings settings_;
  bool turns_last_ = false;
  Time lost_ = 0;
  SlotSet suspended_;
  SlotSet offenders_;
  Client client_[kMaxSlots];
};

}  // namespace crossover::turn

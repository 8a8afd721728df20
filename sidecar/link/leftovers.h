// Opens the gates of turnstiles that this process has left, while its own streams may still wait there. A
// thread opens them again and again: each stream shuts the gate behind itself, and another client that
// wrote over the words may hide that a stream waits.
//
// This is not the helper thread. The helper waits for the driver while it joins anew, and the driver may
// wait for that same stream (CUDA_DEVICE_MAX_CONNECTIONS=1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "sidecar/link/connection.h"

namespace crossover::link {

// Leftovers is a bounded list of such turnstiles, and the thread that opens their gates. Thread-safe.
class Leftovers {
 public:
  constexpr Leftovers() = default;

  // Adds the turnstile `left`, whose gate is opened from now on. `asked` is the newest turn asked for
  // there. A turnstile that is in the list already is noted anew.
  void Add(const Membership& left, turn::TurnNumber asked);
  // Where the thread could not be started: opens the gates once, and tries to start it again. REQUIRES: the
  // caller calls this every so often.
  void Tend();

  // Returns whether a slot that was left `since_ns` nanoseconds ago needs no opening any more. Each slot
  // needs it for a minute, whatever its words say: a host is rarely further ahead of its GPU. While its
  // words say that a stream waits, it needs it for an hour: no host is that far ahead. It does not need it
  // for ever, as the stream may have gone with its context.
  static bool Over(const crossover_slot& slot, turn::TurnNumber asked, std::int64_t since_ns);

 private:
  // No more can be left within a minute: to join a turnstile and lose it takes half a second. Past that,
  // one is dropped at which no stream seems to wait, else the oldest.
  static constexpr std::size_t kMost = 128;

  struct Leftover {
    Membership left;
    turn::TurnNumber asked = 0;
    std::int64_t since_ns = 0;
  };

  static void* Run(void* self);
  static bool Waits(const crossover_slot& slot, turn::TurnNumber asked);
  void Start();
  bool Open();
  void Note(const Leftover& leftover);

  base::Mutex mutex_;
  bool running_ = false;
  std::size_t count_ = 0;
  Leftover leftovers_[kMost];
};

}  // namespace crossover::link

// Opens the gates of turnstiles that this process has left, while its own streams may still wait there. A
// thread opens them repeatedly, for two reasons: each stream shuts the gate after it has passed, and the
// words do not always show that a stream waits, because another client may have written over them.
//
// The arbiter thread does not do this work. It waits for the driver while it joins anew, and the driver
// may wait for that same stream (CUDA_DEVICE_MAX_CONNECTIONS=1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "sidecar/arbiter_client/connection.h"

namespace crossover::arbiter_client {

// AbandonedPages is a bounded list of such turnstiles, and the thread that opens their gates. Thread-safe.
class AbandonedPages {
 public:
  constexpr AbandonedPages() = default;

  // Adds the turnstile `left`, whose gate the thread opens from now on. `asked` is the newest turn asked for
  // there. If the turnstile is in the list already, its entry is replaced and its time begins anew.
  void Add(const Membership& left, turn::TurnNumber asked);
  // Opens the gates once and tries to start the thread, if Add() could not start it. Does nothing otherwise.
  // REQUIRES: the caller calls this at least every second or so.
  void Tend();

  // Returns whether the gate of a slot that was left `since_ns` nanoseconds ago can stay shut. It is opened
  // for a minute, whatever its words say: a host is rarely further ahead of its GPU. While its words say that
  // a stream waits, it is opened for an hour: no host is that far ahead. The time has a limit because the
  // stream may have gone with its context.
  static bool Over(const crossover_slot& slot, turn::TurnNumber asked, std::int64_t since_ns);

 private:
  // The list has room for all that can be left within a minute: to join a turnstile and lose it takes half a
  // second. If it is still full, Add() drops an entry whose turn no stream seems to wait for, or the oldest
  // one.
  static constexpr std::size_t kMost = 128;

  struct AbandonedPage {
    Membership left;
    turn::TurnNumber asked = 0;
    std::int64_t since_ns = 0;
  };

  static void* Run(void* self);
  static bool Waits(const crossover_slot& slot, turn::TurnNumber asked);
  void Start();
  bool Open();
  void Note(const AbandonedPage& page);

  base::Mutex mutex_;
  bool running_ = false;
  std::size_t count_ = 0;
  AbandonedPage abandoned_pages_[kMost];
};

}  // namespace crossover::arbiter_client

// Writes the signals of this process's own slots if no other process is sure to: the signaller has gone, or
// this client has left the turnstile. Streams may still wait there for a signal, and go on to their gates.
//
// A thread does this until no such wait is left. It writes the signal repeatedly, because each stream resets
// its signal when it has passed. A signal that comes too early costs time, and nothing else (turn/signal.h).
// The copy may stand behind the very wait that it must end, in the same hardware channel: so this is the last
// resort. The arbiter thread does not do this work, for the reason that arbiter_client/abandoned_pages.h
// gives.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/clock.h"
#include "common/base/mutex.h"
#include "proto/turnstile.h"
#include "sidecar/gates/driver.h"
#include "sidecar/ipc/copies.h"
#include "turn/ops.h"

namespace crossover::ipc {

// An Awaited is a signal for which streams of this process wait.
struct Awaited {
  CUdeviceptr signal = 0;
  const crossover_slot* slot = nullptr;
  turn::TurnNumber newest = 0;  // number of the newest such wait
};

// OwnSignals is a bounded list of them, and the thread that writes them. Thread-safe.
class OwnSignals {
 public:
  // Any client may have written the words of the page. So they are not believed for this long, as in
  // arbiter_client/abandoned_pages.h.
  static constexpr std::int64_t kAnywayNs = 60 * base::kNsPerSecond;

  constexpr explicit OwnSignals(std::int64_t anyway_ns = kAnywayNs) : anyway_ns_(anyway_ns) {}

  // Writes the signal by `copies` from now on, for a minute, and then until the slot's words say that no
  // stream waits for it any more, or for an hour. A page that any client writes is not believed at once. If
  // the signal is in the list already, its entry is replaced. Drops the oldest entry if there are too many.
  // REQUIRES: `copies` is set up, is the same in all calls, and lives as long as the process.
  void Add(const Awaited& awaited, Copies* copies);

  // Returns whether the thread still writes signals. Once it does not, it uses neither the slots nor `copies`
  // until the next Add().
  bool writes();

 private:
  static constexpr std::size_t kMost = 16;

  struct Entry {
    Awaited awaited;
    std::int64_t since_ns = 0;
  };

  static void* Run(void* self);
  void Note(const Awaited& awaited);
  Copies& Using();
  bool WriteAll(Copies& copies, std::int64_t* pause_ns);
  std::size_t Due(CUdeviceptr* due, std::int64_t* pause_ns);

  const std::int64_t anyway_ns_;
  base::Mutex mutex_;
  Copies* copies_ = nullptr;
  bool running_ = false;
  std::size_t count_ = 0;
  Entry entries_[kMost];
};

}  // namespace crossover::ipc

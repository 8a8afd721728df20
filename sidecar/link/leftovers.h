// Turnstiles that this process has left while streams of its own may still wait there: on a thread of its
// own, their gates are opened again and again. Each stream shuts the gate behind itself, and whoever wrote
// over its words may hide that it waits.
//
// A thread of its own, because the helper waits for the driver while it joins anew, and the driver may wait
// for the very stream (CUDA_DEVICE_MAX_CONNECTIONS=1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "sidecar/link/connection.h"

namespace crossover::link {

class Leftovers {
 public:
  constexpr Leftovers() = default;

  // Its gate is opened from now on: `asked` is the newest turn asked for there. The same turnstile again only
  // says more.
  void Add(const Membership& left, turn::TurnNumber asked);
  // Where no thread could be had: opens them once, and tries to have one. To be called every so often.
  void Tend();

  // Whether a slot that was left so long ago needs no opening any more. It does for a minute, whatever its
  // words say: a host is rarely further ahead of its GPU. And for longer than it ever is, an hour, while they
  // say that a stream waits; not for ever, as that may have gone with its context.
  static bool Over(const crossover_slot& slot, turn::TurnNumber asked, std::int64_t since_ns);

 private:
  // As many as can come within a minute: joining and losing it again takes half a second. Past that, one goes
  // at which nobody seems to wait.
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

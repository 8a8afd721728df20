// Sees a client die: a kernel wakes the waiter of a robust futex word while the killed process still holds
// its gigabytes, long before its socket or pidfd tell.
//
// Each client's liveness thread stores its thread number in `alive` and has the word on its robust list; the
// arbiter marks it FUTEX_WAITERS and waits. The word is the client's: anything that is neither an owner nor
// a death is not trusted, and that client's end is then seen by its socket alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "deviceplugin/arbiter/page.h"

namespace crossover::arbiter {

enum class AliveWord : std::uint8_t {
  kUnowned,  // no liveness thread yet, or it ended in good order
  kOwned,
  kDead,  // the kernel found the owner dead
  kGarbage
};
AliveWord ReadAliveWord(std::uint32_t word);

// Watches the slots of one page: with one thread where the kernel can wait for many words (5.16), else with
// one per client. Watch and Unwatch may be called from any one thread; `on_dead` is called on ours, once per
// Watch, and may neither block nor call back.
class Liveness {
 public:
  using OnDead = std::function<void(std::uint64_t id)>;

  Liveness(const Page& page, OnDead on_dead);
  ~Liveness();
  Liveness(const Liveness&) = delete;
  Liveness& operator=(const Liveness&) = delete;

  void Watch(turn::SlotIndex slot, std::uint64_t id);
  void Unwatch(turn::SlotIndex slot);

 private:
  class Watcher;
  Watcher& WatcherOf(turn::SlotIndex slot);

  const Page& page_;
  OnDead on_dead_;
  bool many_words_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
};

}  // namespace crossover::arbiter

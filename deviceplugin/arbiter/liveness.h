// Detects the death of a client early. When a process is killed, the kernel wakes the waiter of a robust
// futex word while the process still holds its gigabytes of memory, long before its socket or pidfd report
// the end.
//
// Each client's liveness thread stores its thread ID in `alive` and has the word on its robust list. The
// arbiter sets FUTEX_WAITERS in the word and waits. The client can write anything to this word. The arbiter
// ignores a value that means neither an owner nor a death, and then learns of the client's end from its
// socket alone.
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

// A Liveness watches the slots of one page. It uses one thread if the kernel can wait for many words (5.16),
// else one thread per slot. It calls `on_dead` on such a thread, at most once per Watch(), with the `id` that
// Watch() got. REQUIRES: one thread makes all calls of Watch() and Unwatch(), and `on_dead` neither blocks
// nor calls back.
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

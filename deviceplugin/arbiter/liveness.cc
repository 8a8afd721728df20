#include "deviceplugin/arbiter/liveness.h"

#include <linux/futex.h>
#include <sys/prctl.h>

#include <array>
#include <utility>

#include "common/base/futex.h"
#include "deviceplugin/arbiter/futex_waitv.h"

namespace crossover::arbiter {
namespace {

// A watcher reads words without an owner and words with an invalid value again after this time: the kernel
// does not wake it for these.
constexpr turn::Time kLookAgain = 20 * base::kNsPerMs;
// A watcher reads words with an owner again after this time, because a client that writes its word a second
// time erases the mark.
constexpr turn::Time kLookAgainOwned = base::kNsPerSecond;

// Sets FUTEX_WAITERS in a word with an owner, so that the kernel wakes the watcher when the owner dies.
// Returns the value of the word after that.
std::uint32_t MarkWaited(std::uint32_t& word) {
  std::uint32_t seen = Atomic(word).load();
  while (ReadAliveWord(seen) == AliveWord::kOwned && (seen & FUTEX_WAITERS) == 0) {
    if (Atomic(word).compare_exchange_weak(seen, seen | FUTEX_WAITERS)) return seen | FUTEX_WAITERS;
  }
  return seen;
}

}  // namespace

AliveWord ReadAliveWord(std::uint32_t word) {
  const std::uint32_t owner = word & FUTEX_TID_MASK;
  if ((word & FUTEX_OWNER_DIED) != 0) return owner == 0 ? AliveWord::kDead : AliveWord::kGarbage;
  if (owner != 0) return AliveWord::kOwned;
  return word == 0 ? AliveWord::kUnowned : AliveWord::kGarbage;
}

// A Watcher is one thread that watches the slots [first, first + count).
class Liveness::Watcher {
 public:
  Watcher(const Page& page, turn::SlotIndex first, turn::SlotIndex count, const OnDead& on_dead)
      : page_(page), first_(first), count_(count), on_dead_(on_dead), thread_([this] { Run(); }) {}

  ~Watcher() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    Notify();
    thread_.join();
  }

  void Set(turn::SlotIndex slot, std::optional<std::uint64_t> id) {
    {
      const std::lock_guard lock(mutex_);
      watched_[slot] = id;
    }
    Notify();
  }

 private:
  void Notify() {
    Atomic(changes_).fetch_add(1);
    base::FutexWakeAll(&changes_);
  }

  void Run() {
    prctl(PR_SET_NAME, "xo-liveness");
    for (;;) {
      std::array<AwaitedWord, 1 + turn::kMaxSlots> words;
      words[0] = {&changes_, Atomic(changes_).load()};
      std::size_t count = 1;
      turn::Time look_again = turn::kNever;
      {
        const std::lock_guard lock(mutex_);
        if (stop_) return;
        for (turn::SlotIndex slot = first_; slot < first_ + count_; ++slot) {
          if (!watched_[slot]) continue;
          std::uint32_t& word = page_.slot(slot).alive;
          const std::uint32_t seen = MarkWaited(word);
          const AliveWord state = ReadAliveWord(seen);
          if (state == AliveWord::kDead) {
            on_dead_(*std::exchange(watched_[slot], std::nullopt));
            continue;
          }
          const turn::Time pause = state == AliveWord::kOwned ? kLookAgainOwned : kLookAgain;
          look_again = std::min(look_again, base::MonotonicNs() + pause);
          words[count++] = {&word, seen};
        }
      }
      FutexWaitv({words.data(), count}, look_again);
    }
  }

  const Page& page_;
  const turn::SlotIndex first_;
  const turn::SlotIndex count_;
  const OnDead& on_dead_;
  std::mutex mutex_;
  std::array<std::optional<std::uint64_t>, turn::kMaxSlots> watched_;
  bool stop_ = false;
  alignas(4) std::uint32_t changes_ = 0;
  std::thread thread_;  // last: the thread uses the other members
};

Liveness::Liveness(const Page& page, OnDead on_dead)
    : page_(page),
      on_dead_(std::move(on_dead)),
      many_words_(HasFutexWaitv()),
      watchers_(many_words_ ? 1 : turn::kMaxSlots) {}

Liveness::~Liveness() = default;

Liveness::Watcher& Liveness::WatcherOf(turn::SlotIndex slot) {
  std::unique_ptr<Watcher>& watcher = watchers_[many_words_ ? 0 : slot];
  if (watcher == nullptr) {
    watcher = many_words_ ? std::make_unique<Watcher>(page_, 0, turn::kMaxSlots, on_dead_)
                          : std::make_unique<Watcher>(page_, slot, 1, on_dead_);
  }
  return *watcher;
}

void Liveness::Watch(turn::SlotIndex slot, std::uint64_t id) { WatcherOf(slot).Set(slot, id); }

void Liveness::Unwatch(turn::SlotIndex slot) { WatcherOf(slot).Set(slot, std::nullopt); }

}  // namespace crossover::arbiter

#include "simgpu/cuda/words.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "simgpu/cuda/lost.h"
#include "simgpu/cuda/work.h"
#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"

namespace simgpu {
namespace {

// Another process may change a word by a plain store, which wakes no sleeper. So look again this often.
constexpr Nanos kWordPoll = constants::kWordPoll;

bool IsAtOrPast(std::uint64_t value, std::uint64_t wanted, bool wide) {
  return wide ? static_cast<std::int64_t>(value - wanted) >= 0
              : static_cast<std::int32_t>(static_cast<std::uint32_t>(value) -
                                          static_cast<std::uint32_t>(wanted)) >= 0;
}

bool Satisfies(std::uint64_t value, const WordCondition& condition) {
  const std::uint64_t wanted = condition.wanted;
  switch (condition.flags & 3u) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return value == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (value & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return condition.wide ? ~(value | wanted) != 0 : static_cast<std::uint32_t>(~(value | wanted)) != 0;
    default:
      return IsAtOrPast(value, wanted, condition.wide);
  }
}

std::uint64_t Load(const WordCondition& condition) {
  const CUdeviceptr address = condition.address;
  return condition.wide ? __atomic_load_n(reinterpret_cast<const std::uint64_t*>(address), __ATOMIC_ACQUIRE)
                        : __atomic_load_n(reinterpret_cast<const std::uint32_t*>(address), __ATOMIC_ACQUIRE);
}

// Implements the fault delayed_writes_us: a thread of its own makes the stores later, in order.
class DelayedStores {
 public:
  static DelayedStores& Get() {
    static auto* stores = new DelayedStores;
    return *stores;
  }
  void Add(CUdeviceptr address, std::uint64_t value, bool wide, Nanos due) {
    const std::lock_guard lock(mutex_);
    if (stores_.empty() && !started_) {
      started_ = true;
      std::thread([this] { Loop(); }).detach();
    }
    stores_.push_back({address, value, wide, due});
    filled_.notify_one();
  }

 private:
  struct Pending {
    CUdeviceptr address;
    std::uint64_t value;
    bool wide;
    Nanos due;
  };
  void Loop() {
    SharpenTimers();
    std::unique_lock lock(mutex_);
    for (;;) {
      filled_.wait(lock, [this] { return !stores_.empty(); });
      const Pending store = stores_.front();
      stores_.pop_front();
      lock.unlock();
      SleepUntil(store.due);
      StoreWord(store.address, store.value, store.wide);
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Pending> stores_;
  bool started_ = false;
};

}  // namespace

bool Satisfied(const WordCondition& condition) { return Satisfies(Load(condition), condition); }

// Sleeps on the low half of the word. That half changes with each step of a value that counts up.
bool WaitWord(const WordCondition& condition) {
  SharpenTimers();
  for (bool waited = false;; waited = true) {
    const std::uint64_t value = Load(condition);
    if (Satisfies(value, condition) || Lost()) return waited;
    FutexWait(reinterpret_cast<const std::uint32_t*>(condition.address), static_cast<std::uint32_t>(value),
              MonotonicNow() + kWordPoll);
  }
}

bool EndHandover(const WordCondition& condition) {
  Machine* machine = Machine::Get();
  const Nanos cost = machine->config().handover_us * kMicrosecond;
  if (cost == 0) return false;
  const Nanos now = MonotonicNow();
  const Nanos stored = machine->StoredAt(condition.address, static_cast<std::uint32_t>(Load(condition)));
  const Nanos due = (stored == kNever ? now : stored) + cost;
  if (due <= now) return false;
  SharpenTimers();
  SleepUntil(due);
  return true;
}

void StoreWord(CUdeviceptr address, std::uint64_t value, bool wide) {
  Machine* machine = Machine::Get();
  if (machine->config().handover_us > 0) machine->NoteStore(address, static_cast<std::uint32_t>(value));
  if (wide) {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(address), value, __ATOMIC_SEQ_CST);
  } else {
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(address), static_cast<std::uint32_t>(value),
                     __ATOMIC_SEQ_CST);
  }
  WakeWord(reinterpret_cast<const void*>(address));
}

void StoreWordLater(CUdeviceptr address, std::uint64_t value, bool wide, long delay_us) {
  DelayedStores::Get().Add(address, value, wide, MonotonicNow() + delay_us * kMicrosecond);
}

}  // namespace simgpu

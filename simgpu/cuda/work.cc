#include "simgpu/cuda/work.h"

#include <atomic>
#include <cstring>
#include <deque>
#include <thread>

#include "simgpu/cuda/faults.h"
#include "simgpu/cuda/lane.h"
#include "simgpu/cuda/lost.h"
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

bool Satisfied(std::uint64_t value, std::uint64_t wanted, unsigned flags, bool wide) {
  switch (flags & 3u) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return value == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (value & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return wide ? ~(value | wanted) != 0 : static_cast<std::uint32_t>(~(value | wanted)) != 0;
    default:
      return IsAtOrPast(value, wanted, wide);
  }
}

std::uint64_t Load(CUdeviceptr address, bool wide) {
  return wide ? __atomic_load_n(reinterpret_cast<const std::uint64_t*>(address), __ATOMIC_ACQUIRE)
              : __atomic_load_n(reinterpret_cast<const std::uint32_t*>(address), __ATOMIC_ACQUIRE);
}

// Blocks until the word satisfies the condition, or the contexts are lost. Sleeps on the low half of the
// word, which changes with every value that counts up. Returns true if it had to wait.
bool WaitWord(CUdeviceptr address, std::uint64_t wanted, unsigned flags, bool wide) {
  SharpenTimers();
  for (bool waited = false;; waited = true) {
    const std::uint64_t value = Load(address, wide);
    if (Satisfied(value, wanted, flags, wide) || Lost()) return waited;
    FutexWait(reinterpret_cast<const std::uint32_t*>(address), static_cast<std::uint32_t>(value),
              MonotonicNow() + kWordPoll);
  }
}

void Store(CUdeviceptr address, std::uint64_t value, bool wide) {
  if (wide) {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(address), value, __ATOMIC_SEQ_CST);
  } else {
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(address), static_cast<std::uint32_t>(value),
                     __ATOMIC_SEQ_CST);
  }
  WakeWord(reinterpret_cast<const void*>(address));
}

// Implements the fault delayed_writes_us: a thread of its own makes the stores later, in order.
class DelayedStores {
 public:
  static DelayedStores& Get() {
    static auto* stores = new DelayedStores;
    return *stores;
  }
  void Add(CUdeviceptr address, std::uint64_t value, bool wide) {
    const std::lock_guard lock(mutex_);
    if (stores_.empty() && !started_) {
      started_ = true;
      std::thread([this] { Loop(); }).detach();
    }
    stores_.push_back({address, value, wide, MonotonicNow() + Faults().delayed_writes_us * kMicrosecond});
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
      std::uint32_t never = 0;
      while (MonotonicNow() < store.due) FutexWait(&never, 0, store.due);
      Store(store.address, store.value, store.wide);
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<Pending> stores_;
  bool started_ = false;
};

class KernelWork final : public Work {
 public:
  KernelWork(const KernelSpec* spec, void (*function)(void* const*), void* const* parameters)
      : spec_(*spec), function_(function) {
    std::size_t bytes = 0;
    for (const std::size_t size : spec_.argument_bytes) bytes += (size + 15) / 16 * 16;
    storage_.resize(bytes / 16 + 1);
    auto* next = reinterpret_cast<unsigned char*>(storage_.data());
    for (std::size_t i = 0; i < spec_.argument_bytes.size(); ++i) {
      std::memcpy(next, parameters[i], spec_.argument_bytes[i]);
      arguments_.push_back(next);
      next += (spec_.argument_bytes[i] + 15) / 16 * 16;
    }
  }

  void Run(Lane& lane) const override {
    const auto ns = static_cast<double>(spec_.ns_is_argument ? Argument<std::uint64_t>(0) : spec_.ns);
    if (!spec_.spin) {
      lane.RunKernel(ns, spec_.sms);
      if (function_ != nullptr) function_(arguments_.data());
      return;
    }
    const auto word = Argument<CUdeviceptr>(0);
    const auto wanted = Argument<std::uint32_t>(1);
    lane.HoldUntil(spec_.sms, static_cast<Nanos>(ns), [&] {
      if (function_ != nullptr) function_(arguments_.data());
      WaitWord(word, wanted, CU_STREAM_WAIT_VALUE_GEQ, false);
    });
  }

 private:
  template <typename T>
  T Argument(std::size_t index) const {
    T value;
    std::memcpy(&value, arguments_[index], sizeof value);
    return value;
  }

  struct alignas(16) Block {
    unsigned char bytes[16];
  };
  const KernelSpec spec_;
  void (*const function_)(void* const*);
  std::vector<Block> storage_;
  std::vector<void*> arguments_;
};

class HostWork final : public Work {
 public:
  HostWork(std::function<void()> function, bool quiet) : function_(std::move(function)), quiet_(quiet) {}
  void Run(Lane& lane) const override {
    if (!quiet_) lane.Drain();
    function_();
  }

 private:
  const std::function<void()> function_;
  const bool quiet_;
};

class MemoryWork final : public Work {
 public:
  explicit MemoryWork(std::vector<CUstreamBatchMemOpParams> operations)
      : operations_(std::move(operations)) {}
  void Run(Lane& lane) const override {
    lane.Drain();
    bool waited = false;
    for (const CUstreamBatchMemOpParams& operation : operations_) {
      if (!Lost()) waited |= RunOne(operation);
    }
    lane.PassedIn(waited);
  }

 private:
  // Runs one operation. Returns true if it had to wait.
  static bool RunOne(const CUstreamBatchMemOpParams& operation) {
    const bool wide = operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                      operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    if (operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
        operation.operation == CU_STREAM_MEM_OP_WAIT_VALUE_64) {
      const auto& wait = operation.waitValue;
      return WaitWord(wait.address, wide ? wait.value64 : wait.value, wait.flags, wide);
    }
    if (operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32 ||
        operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64) {
      const auto& write = operation.writeValue;
      const std::uint64_t value = wide ? write.value64 : write.value;
      if (Faults().delayed_writes_us > 0) {
        DelayedStores::Get().Add(write.address, value, wide);
      } else {
        Store(write.address, value, wide);
      }
    } else {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    return false;
  }

  std::vector<CUstreamBatchMemOpParams> operations_;
};

class BreakWork final : public Work {
 public:
  void Run(Lane& lane) const override {
    lane.Drain();
    Lose(CUDA_ERROR_ILLEGAL_ADDRESS);
  }
};

}  // namespace

void WakeWord(const void* address) { FutexWake(static_cast<const std::uint32_t*>(address)); }

WorkPtr MakeKernel(const KernelSpec* spec, void (*function)(void* const*), void* const* parameters) {
  return std::make_shared<KernelWork>(spec, function, parameters);
}

WorkPtr MakeHostWork(std::function<void()> function) {
  return std::make_shared<HostWork>(std::move(function), false);
}

WorkPtr MakeQuietWork(std::function<void()> function) {
  return std::make_shared<HostWork>(std::move(function), true);
}

WorkPtr MakeBreak() { return std::make_shared<BreakWork>(); }

WorkPtr MakeMemoryOperations(std::vector<CUstreamBatchMemOpParams> operations) {
  return std::make_shared<MemoryWork>(std::move(operations));
}

}  // namespace simgpu

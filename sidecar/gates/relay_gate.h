// Relayed gates: the stream waits for a word of this process's own, in memory that the driver gave us, and a
// thread of this process, the relay, takes the turn at the turnstile and then opens that word. The host runs
// ahead of its GPU as with GPU gates, and the GPU never touches the turnstile: for drivers that take stream
// memory operations but register no memory of others (docs/design/0015-relayed-gates.md).
//
//   stream:  host function "asks"        wait open >= k   compute ...   host function "gives back"
//   relay:       ready = k   wait gate >= k   hold = k   gate = end   open = k
//
// The turnstile sees the operations of turn/ops.h in their order, as from any other client.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/base/mutex.h"
#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"
#include "sidecar/gates/host_steps.h"

namespace crossover::gates {

class RelayGate final : public Gate {
 public:
  constexpr RelayGate() = default;

  // Takes memory of the driver's, once, tries one stream memory operation on it, and starts the relay, once.
  // False where any of it is refused. Needs a current context; blocks; not while any stream captures.
  bool SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self);

  // Before the context of that memory ends, with what keeps Acquire() and its like out: what waits there goes
  // on, and the relay leaves it alone from then on. Nothing may be queued afterwards.
  void LeaveMemory();

  bool Acquire(CUstream stream, turn::TurnNumber k) override;
  bool Release(CUstream stream, turn::TurnNumber k, Handover handover) override;
  bool Yield(CUstream stream, turn::TurnNumber k) override;
  bool blocks() const override { return false; }

 private:
  static constexpr std::size_t kAsks = 512;  // as many as HostReleases
  static constexpr std::size_t kMostOps = 5;

  // What a stream waits for. Each turnstile that is joined gets the next line: waits for the one before may
  // still be queued, and numbers begin anew.
  struct alignas(64) Line {
    std::uint32_t open;
    std::uint32_t reserved[15];
  };
  static constexpr std::size_t kLines = 64;

  enum State : std::uint32_t { kFree, kQueued, kAsked, kWithdrawn };

  // One passage, from when it is queued until the relay has opened its line.
  struct Ask {
    RelayGate* gate = nullptr;
    crossover_page* page = nullptr;
    Line* line = nullptr;
    turn::SlotIndex self = 0;
    turn::TurnNumber k = 0;
    std::array<turn::Op, kMostOps> ops{};
    std::uint32_t count = 0;
    std::uint32_t before_wait = 0;  // operations that the stream itself stands for: they are done where it is
    std::atomic<std::uint32_t> state{kFree};
    Ask* next = nullptr;
  };

  static void CUDA_CB OnReached(void* ask);
  static void* Relay(void* self);
  void Pass(Ask* ask);
  static void Open(const Ask& ask);
  bool Enqueue(CUstream stream, turn::TurnNumber k, const turn::Op* ops, std::size_t count);

  const Driver* driver_ = nullptr;
  crossover_page* page_ = nullptr;
  turn::SlotIndex self_ = 0;
  base::Mutex memory_mutex_;
  bool left_ = false;  // with `memory_mutex_`: the lines are gone
  Line* lines_ = nullptr;
  CUdeviceptr lines_on_gpu_ = 0;
  std::size_t line_ = 0;  // the present one
  bool started_ = false;
  std::size_t next_ask_ = 0;
  std::atomic<Ask*> asked_{nullptr};  // newest first
  std::uint32_t bell_ = 0;            // futex word: counts asks
  HostReleases releases_;
  Ask asks_[kAsks] = {};
};

}  // namespace crossover::gates

// Defines relayed gates. The stream waits for a word of this process, in memory that the driver gave us. A
// thread of this process, the relay, takes the turn at the turnstile and then opens that word. The host
// runs ahead of its GPU as with GPU gates, and the GPU never touches the turnstile. Relayed gates are for
// drivers that take stream memory operations but refuse to register the page
// (docs/design/0015-relayed-gates.md).
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

// A RelayGate queues host functions and waits, and runs the relay.
class RelayGate final : public Gate {
 public:
  constexpr RelayGate() = default;

  // Prepares the gate for slot `self` of `page`. The first call allocates memory of the driver and starts
  // the relay. Each call tries one stream memory operation on a new line of that memory. Returns false
  // where any of these is refused. Blocks. REQUIRES: a context is current, and no stream is being captured.
  bool SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self);

  // Opens every line that a stream may wait for, and makes the relay leave the lines alone from then on.
  // Nothing is queued through this gate afterwards: a thread that is about to take a turn, or to yield, goes
  // on without, and what it began so is not given back. REQUIRES: the context of that memory has not ended
  // yet. Any thread may call it, while others are in Acquire(), Release() and Yield().
  void LeaveMemory();

  bool Acquire(CUstream stream, turn::TurnNumber k) override;
  bool Release(CUstream stream, turn::TurnNumber k, Handover handover) override;
  bool Yield(CUstream stream, turn::TurnNumber k) override;
  bool blocks() const override { return false; }

 private:
  static constexpr std::size_t kAsks = 512;  // as many as HostReleases has room for
  static constexpr std::size_t kMostOps = 5;

  // A Line holds the word that a stream waits for. Each turnstile that is joined gets the next line: waits
  // for the turnstile before may still be queued, and turn numbers begin anew.
  struct alignas(64) Line {
    std::uint32_t open;
    std::uint32_t reserved[15];
  };
  static constexpr std::size_t kLines = 64;

  enum State : std::uint32_t { kFree, kQueued, kAsked, kWithdrawn };

  // An Ask is one passage through the gate, from when it is queued until the relay has opened its line.
  struct Ask {
    RelayGate* gate = nullptr;
    crossover_page* page = nullptr;
    Line* line = nullptr;
    turn::SlotIndex self = 0;
    turn::TurnNumber k = 0;
    std::array<turn::Op, kMostOps> ops{};
    std::uint32_t count = 0;
    std::uint32_t before_wait = 0;  // operations in front of the wait; done when the stream comes to them
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
  std::atomic<bool> left_{false};  // the lines may be gone; set under `memory_mutex_`
  bool skipped_ = false;           // a turn was begun after that, and the turnstile does not know of it
  Line* lines_ = nullptr;
  CUdeviceptr lines_on_gpu_ = 0;
  std::size_t line_ = 0;  // index of the present line
  bool started_ = false;
  std::size_t next_ask_ = 0;
  std::atomic<Ask*> asked_{nullptr};  // asks that their streams have reached, newest first
  std::uint32_t bell_ = 0;            // futex word: counts them
  HostReleases releases_;
  Ask asks_[kAsks] = {};
};

}  // namespace crossover::gates

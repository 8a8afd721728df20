// Defines relayed gates. The stream waits for a word in this process's own memory, which the driver has
// allocated. A thread of this process, the relay, takes the turn at the turnstile and then sets that word.
// The host runs ahead of its GPU as with GPU gates, and the GPU never touches the turnstile. Relayed gates
// are for drivers that accept stream memory operations but refuse to register the page
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

  // Prepares the gate for slot `self` of `page`. The first call allocates memory of the driver, which stays,
  // and starts the relay. Each call tries one stream memory operation on a new line of that memory. Returns
  // false if the driver or the system refuses one of these; the next call goes on from there. Blocks.
  // REQUIRES: a context is current, and no stream is being captured.
  bool SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self);

  // Opens every line that a stream may wait for, and makes the relay touch no line from then on. Nothing is
  // queued through this gate afterwards: a thread that is about to take a turn, or to yield, goes on without
  // the turn, and Release() then gives nothing back. REQUIRES: the context of that memory has not ended yet.
  // Any thread may call it, while others are in Acquire(), Release() and Yield().
  void LeaveMemory();

  bool Acquire(CUstream stream, turn::TurnNumber k) override;
  bool Release(CUstream stream, turn::TurnNumber k, Handover handover) override;
  bool Yield(CUstream stream, turn::TurnNumber k) override;
  bool blocks() const override { return false; }

 private:
  static constexpr std::size_t kAsks = 512;  // as many as HostReleases has room for
  static constexpr std::size_t kMostOps = 5;

  // A Line holds the word that a stream waits for. Each SetUp() uses the next line: waits for the last
  // turnstile may still be queued on the old line, and turn numbers begin anew.
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
  std::atomic<bool> left_{
      false};             // LeaveMemory() was called: the lines may be gone. Set under `memory_mutex_`
  bool skipped_ = false;  // a turn began after that, and the turnstile does not know of it
  Line* lines_ = nullptr;
  CUdeviceptr lines_on_gpu_ = 0;
  std::size_t line_ = 0;  // index of the present line
  bool started_ = false;
  std::size_t next_ask_ = 0;
  std::atomic<Ask*> asked_{nullptr};  // asks that their streams have reached, newest first
  std::uint32_t bell_ = 0;  // futex word: counts the asks that streams have reached; wakes the relay
  HostReleases releases_;
  Ask asks_[kAsks] = {};
};

}  // namespace crossover::gates

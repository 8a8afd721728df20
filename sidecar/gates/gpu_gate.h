// Defines GPU gates. The stream itself waits for the gate word and writes the other words. The host never
// blocks, and runs ahead of its GPU as it does without the library.
//
// The gate puts a barrier before each wait. A client writes what it asks for and then reads its gate. The
// arbiter shuts the gate and then reads what the client asks for. One of the two must see the other's write,
// and only a barrier orders a write of a stream before its next read.
//
// With signals (turn/signal.h) a stream first waits for a word in device memory, and then for its gate. The
// way back to gates alone is always open: what is queued stays, and the next turn has no such wait.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"
#include "turn/signal.h"

namespace crossover::gates {

// A GpuGate queues the operations of a turn as one batch of stream memory operations.
class GpuGate final : public Gate {
 public:
  GpuGate() = default;

  // Registers the page with the current context and tries each kind of stream memory operation on it. Returns
  // false if the driver refuses the registration, a wait or a store, or if a store does not arrive within a
  // second; the page is then not registered. If the driver refuses the barrier alone, the gate works without
  // barriers, and the log says so. Blocks for about a second at most, and gives up once `*ending` is true:
  // the process ends. REQUIRES: no stream is being captured, and the slot is the caller's alone.
  bool SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self,
             const std::atomic<bool>* ending = nullptr);

  bool Acquire(CUstream stream, turn::TurnNumber k) override;
  bool Release(CUstream stream, turn::TurnNumber k, Handover handover) override;
  bool Yield(CUstream stream, turn::TurnNumber k) override;
  bool blocks() const override { return false; }

  // A Signals says what the gate does with signals. Each state but kNone has the address of their lines.
  enum class Signals : std::uint8_t {
    kNone,     // the operations of turn/ops.h
    kWritten,  // releases write the successor's signal, and no stream waits for one
    kAwaited,  // the operations of turn/signal.h
  };
  // Any thread may make these calls, also while another one is in Acquire(), Release() or Yield(), whose
  // operations may then still be those of the state before.

  // Uses the signals in `lines`, the device address of CROSSOVER_MAX_CLIENTS lines of 64 bytes, one for each
  // slot. REQUIRES: the current context of those calls maps them for reading and writing, until the process
  // ends.
  void AwaitSignals(CUdeviceptr lines);
  // Queues no more waits for signals. Releases go on to write them: the successor may wait for one.
  void StopAwaiting();
  // Returns the state. It becomes kNone by itself, for good, if the driver refuses operations on signals.
  Signals signals() const { return signals_.load(std::memory_order_acquire); }
  // Returns the newest number for which a wait for a signal is queued, or is about to be, at this page.
  turn::TurnNumber awaited() const { return awaited_.load(std::memory_order_acquire); }

 private:
  bool Try(std::uint32_t value, bool fenced) const;
  CUdeviceptr AddressOf(const turn::Op& op) const;
  CUdeviceptr AddressOf(const turn::SignalledOp& op) const;
  template <typename AnyOp, std::size_t kCount>
  bool Enqueue(CUstream stream, const std::array<AnyOp, kCount>& ops) const;
  template <std::size_t kCount>
  bool EnqueueSignalled(CUstream stream, const std::array<turn::SignalledOp, kCount>& ops);

  const Driver* driver_ = nullptr;
  CUdeviceptr page_ = 0;
  turn::SlotIndex self_ = 0;
  bool fenced_ = true;  // the driver accepts barriers
  std::atomic<Signals> signals_{Signals::kNone};
  std::atomic<CUdeviceptr> lines_{0};  // of the signals; written before `signals_`
  std::atomic<turn::TurnNumber> awaited_{0};
};

}  // namespace crossover::gates

// Defines GPU gates. The stream itself waits for the gate word and writes the other words. The host never
// blocks, and runs ahead of its GPU as it does without the library.
//
// The gate puts a barrier before each wait. A client writes what it asks for and then reads its gate. The
// arbiter shuts the gate and then reads what the client asks for. One of the two must see the other's write,
// and nothing but a barrier orders a write of a stream before its next read.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"

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

 private:
  bool Try(std::uint32_t value, bool fenced) const;
  CUstreamBatchMemOpParams Translate(const turn::Op& op) const;
  template <std::size_t kCount>
  bool Enqueue(CUstream stream, const std::array<turn::Op, kCount>& ops) const;

  const Driver* driver_ = nullptr;
  CUdeviceptr page_ = 0;
  turn::SlotIndex self_ = 0;
  bool fenced_ = true;  // the driver accepts barriers
};

}  // namespace crossover::gates

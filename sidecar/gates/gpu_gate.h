// Defines GPU gates. The stream itself waits for the gate word and writes the other words. The host never
// blocks, and runs ahead of its GPU as it does without the library.
#pragma once

#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"

namespace crossover::gates {

// A GpuGate queues the operations of a turn as one batch of stream memory operations.
class GpuGate final : public Gate {
 public:
  GpuGate() = default;

  // Registers the page with the current context and tries one stream memory operation on it. Returns false
  // where the driver refuses either; the page is then not registered. Blocks. REQUIRES: no stream is being
  // captured.
  bool SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self);

  bool Acquire(CUstream stream, turn::TurnNumber k) override;
  bool Release(CUstream stream, turn::TurnNumber k, Handover handover) override;
  bool Yield(CUstream stream, turn::TurnNumber k) override;
  bool blocks() const override { return false; }

 private:
  CUstreamBatchMemOpParams Translate(const turn::Op& op) const;
  template <std::size_t kCount>
  bool Enqueue(CUstream stream, const std::array<turn::Op, kCount>& ops) const;

  const Driver* driver_ = nullptr;
  CUdeviceptr page_ = 0;
  turn::SlotIndex self_ = 0;
};

}  // namespace crossover::gates

// GPU gates: the stream itself waits for the gate word and writes the others. The host never blocks, and runs
// ahead of its GPU as without the library.
#pragma once

#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"

namespace crossover::gates {

class GpuGate final : public Gate {
 public:
  GpuGate() = default;

  // Registers the page with the current context and tries one stream memory operation on it. False, with
  // nothing left behind, where the driver refuses either. Blocks; not while any stream captures.
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

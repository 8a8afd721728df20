// Host gates: the launching thread waits for the turn, and a host function gives it back. The fallback where
// the driver refuses stream memory operations: it costs what a host synchronisation per turn costs.
#pragma once

#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"
#include "sidecar/gates/host_steps.h"

namespace crossover::gates {

class HostGate final : public Gate {
 public:
  HostGate() = default;

  // Needs a current context. False where the driver lacks host functions or events.
  bool SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self);

  // Waits until `stream` has reached this point (the turn is asked for when compute could begin, not an
  // iteration ahead), for as long as it takes: what it stands behind is the user's. Then until the turn
  // before, which had one stretch, was given back, for about a second at most; and for the gate, as long as
  // an arbiter is there, after which it is opened from here and counted as a fault.
  bool Acquire(CUstream stream, turn::TurnNumber k) override;
  bool Release(CUstream stream, turn::TurnNumber k, Handover handover) override;
  bool Yield(CUstream, turn::TurnNumber) override { return false; }
  bool blocks() const override { return true; }

 private:
  bool AwaitStream(CUstream stream);
  void AwaitGivenBack(turn::TurnNumber before);

  const Driver* driver_ = nullptr;
  crossover_page* page_ = nullptr;
  turn::SlotIndex self_ = 0;
  CUevent reached_ = nullptr;
  turn::TurnNumber last_ = 0;  // taken through this gate at this page
  HostReleases releases_;
};

}  // namespace crossover::gates

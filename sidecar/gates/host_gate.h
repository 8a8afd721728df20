// Defines host gates. The launching thread waits for the turn, and a host function gives it back. They are
// the fallback if the driver refuses stream memory operations. A turn costs about as much as a host
// synchronisation.
#pragma once

#include "sidecar/gates/driver.h"
#include "sidecar/gates/gate.h"
#include "sidecar/gates/host_steps.h"

namespace crossover::gates {

// A HostGate waits for turns on the launching thread.
class HostGate final : public Gate {
 public:
  HostGate() = default;

  // Prepares the gate for slot `self` of `page`. Returns false if the driver lacks host functions or events.
  // REQUIRES: a context is current.
  bool SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self);

  // Blocks three times, one after the other:
  //   1. until `stream` has reached this point, so that the client asks for the turn when its compute could
  //      begin, and not an iteration ahead. This takes as long as the user's own work takes;
  //   2. until the turn before is given back, for about a second at most. REQUIRES: it had one stretch;
  //   3. until the gate opens, as long as the arbiter's beat changes. Once the beat has stood still for a
  //      second, this opens the gate itself and counts a fault.
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
  turn::TurnNumber last_ = 0;  // newest turn taken through this gate at this page
  HostReleases releases_;
};

}  // namespace crossover::gates

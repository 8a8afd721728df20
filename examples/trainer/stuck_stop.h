// Unblocks a rank that was told to stop.
#pragma once

#include "examples/trainer/communicator.h"
#include "examples/trainer/host_exchange.h"
#include "examples/trainer/signals.h"

namespace crossover::trainer {

// A StuckStopGuard tells Signals how to unblock this rank, as long as the guard lives. Either of the two may
// be null.
class StuckStopGuard {
 public:
  StuckStopGuard(Signals& signals, Communicator* communicator, HostExchange* exchange) : signals_(signals) {
    signals_.OnStuckStop([=] {
      if (communicator != nullptr) communicator->Abort();
      if (exchange != nullptr) exchange->Abort();
    });
  }
  ~StuckStopGuard() { signals_.OnStuckStop({}); }
  StuckStopGuard(const StuckStopGuard&) = delete;
  StuckStopGuard& operator=(const StuckStopGuard&) = delete;

 private:
  Signals& signals_;
};

}  // namespace crossover::trainer

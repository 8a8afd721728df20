#include "sidecar/gates/host_gate.h"

namespace crossover::gates {

bool HostGate::SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self) {
  driver_ = driver;
  page_ = page;
  self_ = self;
  return driver->LaunchHostFunc != nullptr && driver->EventSynchronize != nullptr &&
         (reached_ != nullptr || driver->EventCreate(&reached_, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
}

// Another thread may begin to capture meanwhile: a wait in any but the relaxed mode would spoil that.
bool HostGate::AwaitStream(CUstream stream) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  driver_->ThreadExchangeStreamCaptureMode(&mode);
  const bool reached = driver_->EventRecord(reached_, stream) == CUDA_SUCCESS &&
                       driver_->EventSynchronize(reached_) == CUDA_SUCCESS;
  driver_->ThreadExchangeStreamCaptureMode(&mode);
  return reached;
}

bool HostGate::Acquire(CUstream stream, turn::TurnNumber k) {
  if (!AwaitStream(stream)) return false;
  // The turn before, which had one stretch, was given back.
  WaitFor(&page_->slot[self_].rel, turn::FirstStretch(turn::TurnOf(k) - 1), &page_->arbiter_beat);
  const auto ops = turn::Acquire(self_, k);
  CarryOut(page_, self_, k, ops.data(), ops.size());
  return true;
}

bool HostGate::Release(CUstream stream, turn::TurnNumber k, Handover handover) {
  return releases_.Queue(*driver_, stream, page_, self_, k, handover);
}

}  // namespace crossover::gates

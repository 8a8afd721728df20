#include "sidecar/gates/host_gate.h"

#include "common/base/clock.h"

namespace crossover::gates {

bool HostGate::SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self) {
  driver_ = driver;
  page_ = page;
  self_ = self;
  last_ = 0;
  return driver->LaunchHostFunc != nullptr && driver->EventSynchronize != nullptr &&
         (reached_ != nullptr || driver->EventCreate(&reached_, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
}

// Blocks until `stream` has reached this point. Returns false if the driver refuses. Another thread may begin
// a capture meanwhile, and a wait in any capture mode but the relaxed one would invalidate that capture.
bool HostGate::AwaitStream(CUstream stream) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  driver_->ThreadExchangeStreamCaptureMode(&mode);
  const bool reached = driver_->EventRecord(reached_, stream) == CUDA_SUCCESS &&
                       driver_->EventSynchronize(reached_) == CUDA_SUCCESS;
  driver_->ThreadExchangeStreamCaptureMode(&mode);
  return reached;
}

// Blocks until turn `before` is given back, for about a second at most. Uses this process's own records if
// this gate took turn `before`, because other clients may have written over the page. If another gate took
// it, only the page tells that the GPU has given it back.
void HostGate::AwaitGivenBack(turn::TurnNumber before) {
  const std::int64_t deadline = base::MonotonicNs() + kPatienceNs;
  releases_.Await(page_, before, deadline);
  if (last_ != before) WaitFor(&page_->slot[self_].rel, before, nullptr, deadline);
}

bool HostGate::Acquire(CUstream stream, turn::TurnNumber k) {
  if (!AwaitStream(stream)) return false;
  AwaitGivenBack(turn::FirstStretch(turn::TurnOf(k) - 1));
  last_ = k;
  const auto ops = turn::Acquire(self_, k);
  CarryOut(page_, self_, k, ops.data(), ops.size());
  return true;
}

bool HostGate::Release(CUstream stream, turn::TurnNumber k, Handover handover) {
  return releases_.Queue(*driver_, stream, page_, self_, k, handover);
}

}  // namespace crossover::gates

#include "sidecar/hooks/captures.h"

#include <cstdint>

#include "sidecar/hooks/activation.h"
#include "sidecar/hooks/driver_function.h"
#include "sidecar/hooks/memory_policies.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"

namespace crossover::hooks {
namespace {

constinit DriverFunction<PFN_cuStreamIsCapturing_v10000> is_capturing("cuStreamIsCapturing");
constinit DriverFunction<PFN_cuDevicePrimaryCtxGetState_v7000> primary_state("cuDevicePrimaryCtxGetState");

bool Ended(phase::StreamKey stream, CUresult answer) {
  if (answer == CUDA_SUCCESS || answer == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
      answer == CUDA_ERROR_STREAM_CAPTURE_UNJOINED) {
    return true;
  }
  CUstream handle = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (is_capturing.Get() == nullptr || !session::HandleOf(stream, &handle)) return false;
  return is_capturing.Get()(handle, &status) != CUDA_SUCCESS || status == CU_STREAM_CAPTURE_STATUS_NONE;
}

}  // namespace

bool BeforeCapture(phase::StreamKey stream) {
  return Active() && session::TheSession().OnBeginCapture({stream, CurrentContext(), CurrentDevice()});
}

void AfterCaptureEnd(phase::StreamKey stream, CUresult answer) {
  if (Active() && Ended(stream, answer)) session::TheSession().OnEndCapture(stream);
}

void EndCapturesIn(CUcontext context) {
  if (!Active() || !session::TheSession().AnyCapture()) return;
  session::TheSession().OnEndCaptures(
      [key = KeyOfContext(context)](const session::Capture& capture) { return capture.context == key; });
}

void EndCapturesOn(CUdevice device) {
  if (!Active() || !session::TheSession().AnyCapture()) return;
  session::TheSession().OnEndCaptures(
      [device](const session::Capture& capture) { return capture.device == device; });
}

void EndCapturesIfGone(CUdevice device) {
  if (!Active() || !session::TheSession().AnyCapture() || primary_state.Get() == nullptr) return;
  unsigned int flags = 0;
  int active = 1;
  if (primary_state.Get()(device, &flags, &active) == CUDA_SUCCESS && active == 0) EndCapturesOn(device);
}

}  // namespace crossover::hooks

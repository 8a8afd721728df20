#include "sidecar/hooks/captures.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sidecar/hooks/bootstrap.h"
#include "sidecar/hooks/driver_function.h"
#include "sidecar/hooks/memory_policies.h"
#include "sidecar/memory/accounting.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"

namespace crossover::hooks {
namespace {

constinit DriverFunction<PFN_cuStreamIsCapturing_v10000> is_capturing("cuStreamIsCapturing");
constinit DriverFunction<PFN_cuDevicePrimaryCtxGetState_v7000> primary_state("cuDevicePrimaryCtxGetState");

// Holds the key (KeyOfContext) of each device's primary context; 0 if none was seen. A capture in a context
// that is not known to be primary counts on when the primary context of its device ends. If it counted as
// ended too early, operations of the library could get into its graph.
constinit std::array<std::atomic<std::uint64_t>, memory::kMostDevices> primaries{};

bool HasPlace(CUdevice device) { return device >= 0 && device < memory::kMostDevices; }

bool IsPrimary(std::uint64_t context, CUdevice device) {
  return context != 0 && HasPlace(device) &&
         primaries[static_cast<std::size_t>(device)].load(std::memory_order_relaxed) == context;
}

// Returns whether the capture has ended, by the driver's answer to the call that ends it, or by what the
// driver says about the stream now.
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

void LearnPrimary(CUdevice device, CUcontext context) {
  if (HasPlace(device))
    primaries[static_cast<std::size_t>(device)].store(KeyOfContext(context), std::memory_order_relaxed);
}

bool BeforeCapture(phase::StreamKey stream) {
  if (!Active()) return false;
  const std::uint64_t context = CurrentContext();
  const CUdevice device = CurrentDevice();
  return session::TheSession().OnBeginCapture({stream, context, device, IsPrimary(context, device)});
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
      [device](const session::Capture& capture) { return capture.primary && capture.device == device; });
}

void EndCapturesIfGone(CUdevice device) {
  if (!Active() || !session::TheSession().AnyCapture() || primary_state.Get() == nullptr) return;
  unsigned int flags = 0;
  int active = 1;
  if (primary_state.Get()(device, &flags, &active) == CUDA_SUCCESS && active == 0) EndCapturesOn(device);
}

}  // namespace crossover::hooks

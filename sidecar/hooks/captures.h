// Tells the session which streams are being captured. The functions do nothing in a process that does not
// take part. They are thread-safe.
#pragma once

#include <cudaTypedefs.h>

#include "sidecar/phase/tracker.h"

namespace crossover::hooks {

// Records that the primary context of `device` is `context`. The driver has just said so.
void LearnPrimary(CUdevice device, CUcontext context);

// Records that a capture of `stream` is about to begin in the calling thread's context. Returns false, and
// records nothing, if that stream is being captured already: the driver will refuse the new capture.
bool BeforeCapture(phase::StreamKey stream);

// Records that the driver has answered a call that ends the capture of `stream`. Some errors also end a
// capture (one that was invalidated or left unjoined); after others it goes on. For those this asks the
// driver.
void AfterCaptureEnd(phase::StreamKey stream, CUresult answer);

// These functions record that captures have ended with their context. EndCapturesIn(): the context was
// destroyed. EndCapturesOn(): the device was reset, which ends its primary context. EndCapturesIfGone(): a
// user has released the primary context of the device; this asks the driver whether it was the last one.
// Captures in other contexts of the device go on.
void EndCapturesIn(CUcontext context);
void EndCapturesOn(CUdevice device);
void EndCapturesIfGone(CUdevice device);

}  // namespace crossover::hooks

// Tells the session which streams are being captured. All functions do nothing in a process that takes no
// part.
#pragma once

#include <cudaTypedefs.h>

#include "sidecar/phase/tracker.h"

namespace crossover::hooks {

// Records that the primary context of `device` is `context`, as the driver has just said.
void LearnPrimary(CUdevice device, CUcontext context);

// Records that a capture of `stream` is about to begin in the calling thread's context. Returns false, and
// records nothing, where that stream is known to be captured already: then the driver refuses this one.
bool BeforeCapture(phase::StreamKey stream);

// Records that the driver has answered a call that ends the capture of `stream`. A capture that was
// invalidated or left unjoined ends with an error; other errors leave it going on. The driver is asked
// which it is.
void AfterCaptureEnd(phase::StreamKey stream, CUresult answer);

// These record that captures have ended with their context: one that was destroyed, the primary context of
// a device that was reset, or that of a device whose last user may have let it go. Captures in other contexts
// of that device go on.
void EndCapturesIn(CUcontext context);
void EndCapturesOn(CUdevice device);
void EndCapturesIfGone(CUdevice device);

}  // namespace crossover::hooks

// Implements stream capture: which streams record a graph instead of running their work, and which calls
// are refused meanwhile.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "simgpu/cuda/context.h"

namespace simgpu {

// A Capture is one capture that is under way. Its fields are guarded by CaptureMutex().
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  bool invalidated = false;
  Stream* origin = nullptr;
  std::vector<std::weak_ptr<Stream>> streams;  // origin and all that joined
};

// Returns work that waits for a record.
WorkPtr MakeWait(RecordPtr record);

// Returns false while no stream of the process captures. Costs one relaxed load.
bool AnyCapture();
// Returns whether this stream captures.
bool IsCapturing(const Stream& stream);
// Returns the mutex that guards all captures.
std::mutex& CaptureMutex();

// These functions implement the calls of the driver API of the same names. BeginCapture() and EndCapture()
// return what the call returns. ExchangeCaptureMode() sets the calling thread's mode and returns the old one.
CUresult BeginCapture(const StreamPtr& stream, CUstreamCaptureMode mode);
CUresult EndCapture(const StreamPtr& stream, CUgraph* graph);
CUstreamCaptureMode ExchangeCaptureMode(CUstreamCaptureMode mode);

// Adds work to the stream's graph if the stream captures, and sets *captured. Otherwise returns an error if
// the call is not allowed beside another capture. CaptureEventRecord() and CaptureEventWait() do the same
// for the record of an event and the wait for one; a wait for a captured event makes the stream join its
// capture.
CUresult CaptureWork(Stream& stream, CUgraphNodeType type, const WorkPtr& work, bool* captured);
CUresult CaptureEventRecord(Stream& stream, Event& event, bool* captured);
CUresult CaptureEventWait(const StreamPtr& stream, Event& event, bool* captured);
// Adds a node that records the event, or waits for it, each time the graph is launched. Returns
// CUDA_ERROR_INVALID_VALUE if the stream does not capture.
CUresult CaptureExternalEvent(Stream& stream, CUgraphNodeType type, std::shared_ptr<Event> event);

// Serves calls that are not allowed during a capture, because they wait or allocate. Returns CUDA_SUCCESS
// if no capture forbids the call. Otherwise invalidates each capture that forbids it and returns the error.
CUresult RefuseDuringCapture();
// Serves calls that wait for `stream` alone. Returns an error, and invalidates the stream's capture, if the
// stream captures. Does the same to the capture of a blocking stream if `stream` is the legacy stream of its
// context. Otherwise returns what RefuseDuringCapture() does.
CUresult RefuseWaitFor(Stream& stream);

}  // namespace simgpu

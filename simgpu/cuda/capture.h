// Stream capture: which streams record a graph instead of running, and what is forbidden meanwhile.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "simgpu/cuda/context.h"

namespace simgpu {

struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  bool invalidated = false;
  Stream* origin = nullptr;
  std::vector<std::weak_ptr<Stream>> streams;  // origin and all that joined
};

// A wait for a record, as work.
WorkPtr MakeWait(RecordPtr record);

// One relaxed load: false while nothing in the process captures.
bool AnyCapture();
std::mutex& CaptureMutex();

CUresult BeginCapture(const StreamPtr& stream, CUstreamCaptureMode mode);
CUresult EndCapture(const StreamPtr& stream, CUgraph* graph);
CUstreamCaptureMode ExchangeCaptureMode(CUstreamCaptureMode mode);

// Adds work to the stream's graph when it captures (*captured). Otherwise refuses what capture forbids.
CUresult CaptureWork(Stream& stream, CUgraphNodeType type, const WorkPtr& work, bool* captured);
CUresult CaptureEventRecord(Stream& stream, Event& event, bool* captured);
CUresult CaptureEventWait(const StreamPtr& stream, Event& event, bool* captured);

// For calls that may not be made while capture is under way (those that wait or allocate): the error, having
// spoilt the capture, or CUDA_SUCCESS.
CUresult RefuseDuringCapture();
// The same for calls that wait for one stream.
CUresult RefuseWaitFor(Stream& stream);

}  // namespace simgpu

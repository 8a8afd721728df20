// Implements streams: creation, order, waits, capture.
#include <algorithm>
#include <atomic>

#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/cuda/faults.h"
#include "simgpu/ipc/shared_event.h"

using namespace simgpu;

namespace {

// Counts the waits of the process. Returns whether a fault drops this one.
bool IsDropped() {
  static std::atomic<long> waits{0};
  const long number = waits++;
  const FaultSet& faults = Faults();
  return number == faults.dropped_wait ||
         (faults.first_dropped_wait >= 0 && number >= faults.first_dropped_wait);
}

}  // namespace

#define FIND_STREAM(handle, stream) \
  StreamPtr stream;                 \
  if (const CUresult found_ = FindStream(handle, &stream); found_ != CUDA_SUCCESS) return found_

extern "C" {

CUresult cuStreamCreateWithPriority(CUstream* result, unsigned flags, int priority) {
  std::shared_ptr<Context> context;
  if (const CUresult error = RequireContext(&context); error != CUDA_SUCCESS) return error;
  if (result == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(context->mutex);
  const StreamPtr stream = MakeStream(context, flags, std::clamp(priority, -5, 0));
  *result = reinterpret_cast<CUstream>(Handles<Stream>().Add(stream));
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream* result, unsigned flags) {
  return cuStreamCreateWithPriority(result, flags, 0);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  const StreamPtr stream = Handles<Stream>().Remove(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (const auto context = stream->context.lock()) {
    const std::lock_guard lock(context->mutex);
    std::erase(context->streams, stream);
    // Lanes that streams share live longer than each of the streams.
    if (context->queues.empty()) stream->lane->Stop();
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream handle) {
  FIND_STREAM(handle, stream);
  if (const CUresult error = RefuseWaitFor(*stream); error != CUDA_SUCCESS) return error;
  TailOf(stream)->Wait();
  return Ready();
}

CUresult cuStreamQuery(CUstream handle) {
  FIND_STREAM(handle, stream);
  if (const CUresult error = RefuseWaitFor(*stream); error != CUDA_SUCCESS) return error;
  return IsIdle(stream) ? Ready() : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  FIND_STREAM(handle, stream);
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  FIND_STREAM(handle, stream);
  *flags = stream->flags;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  FIND_STREAM(handle, stream);
  *id = stream->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* result) {
  FIND_STREAM(handle, stream);
  *result = reinterpret_cast<CUcontext>(stream->context.lock().get());
  return CUDA_SUCCESS;
}

// No stream belongs to a green context: there are none.
CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* result, CUgreenCtx* green) {
  *green = nullptr;
  return cuStreamGetCtx(handle, result);
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  FIND_STREAM(handle, stream);
  *device = stream->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
  FIND_STREAM(handle, stream);
  const auto event = Handles<Event>().Find(event_handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (flags == CU_EVENT_WAIT_EXTERNAL)
    return CaptureExternalEvent(*stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
  if (flags != CU_EVENT_WAIT_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  if (AnyCapture()) {
    bool captured = false;
    const CUresult result = CaptureEventWait(stream, *event, &captured);
    if (captured || result != CUDA_SUCCESS) return result;
  }
  if (IsDropped()) return CUDA_SUCCESS;
  if (event->shared != nullptr) return Submit(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event->shared->Wait());
  RecordPtr record;
  {
    const std::lock_guard lock(event->mutex);
    record = event->record;
  }
  // A stream waits for nothing if the event was never recorded.
  return record == nullptr ? CUDA_SUCCESS : Submit(stream, CU_GRAPH_NODE_TYPE_WAIT_EVENT, MakeWait(record));
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data, unsigned flags) {
  FIND_STREAM(handle, stream);
  if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = RefuseWaitFor(*stream); error != CUDA_SUCCESS) return error;
  return Submit(stream, CU_GRAPH_NODE_TYPE_HOST, MakeHostWork([=] { callback(handle, CUDA_SUCCESS, data); }));
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  FIND_STREAM(handle, stream);
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Submit(stream, CU_GRAPH_NODE_TYPE_HOST, MakeHostWork([=] { function(data); }));
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) {
  FIND_STREAM(handle, stream);
  if (mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  return BeginCapture(stream, mode);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  FIND_STREAM(handle, stream);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return EndCapture(stream, graph);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  if (mode == nullptr || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_ERROR_INVALID_VALUE;
  *mode = ExchangeCaptureMode(*mode);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   const CUgraphEdgeData** edges, size_t* dependency_count) {
  FIND_STREAM(handle, stream);
  if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(CaptureMutex());
  const auto& capture = stream->capture;
  *status = capture == nullptr     ? CU_STREAM_CAPTURE_STATUS_NONE
            : capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                   : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  if (id != nullptr) *id = capture->id;
  if (graph != nullptr) *graph = reinterpret_cast<CUgraph>(capture->graph.get());
  if (edges != nullptr) *edges = nullptr;
  if (dependencies != nullptr) *dependencies = reinterpret_cast<const CUgraphNode*>(stream->frontier.data());
  if (dependency_count != nullptr) *dependency_count = stream->frontier.size();
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** dependencies,
                                   size_t* dependency_count) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, graph, dependencies, nullptr, dependency_count);
}

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return cuStreamGetCaptureInfo_v3(handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
}

// These are the flavours of the functions for the per-thread default stream.
CUresult cuStreamSynchronize_ptsz(CUstream stream) { return cuStreamSynchronize(PerThread(stream)); }
CUresult cuStreamQuery_ptsz(CUstream stream) { return cuStreamQuery(PerThread(stream)); }
CUresult cuStreamGetPriority_ptsz(CUstream stream, int* priority) {
  return cuStreamGetPriority(PerThread(stream), priority);
}
CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned* flags) {
  return cuStreamGetFlags(PerThread(stream), flags);
}
CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long* id) {
  return cuStreamGetId(PerThread(stream), id);
}
CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext* context) {
  return cuStreamGetCtx(PerThread(stream), context);
}
CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  return cuStreamGetCtx_v2(PerThread(stream), context, green);
}
CUresult cuStreamGetDevice_ptsz(CUstream stream, CUdevice* device) {
  return cuStreamGetDevice(PerThread(stream), device);
}
CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned flags) {
  return cuStreamWaitEvent(PerThread(stream), event, flags);
}
CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void* data, unsigned flags) {
  return cuStreamAddCallback(PerThread(stream), callback, data, flags);
}
CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void* data) {
  return cuLaunchHostFunc(PerThread(stream), function, data);
}
CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, CUstreamCaptureMode mode) {
  return cuStreamBeginCapture_v2(PerThread(stream), mode);
}
CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph* graph) {
  return cuStreamEndCapture(PerThread(stream), graph);
}
CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                        CUgraph* graph, const CUgraphNode** dependencies,
                                        const CUgraphEdgeData** edges, size_t* dependency_count) {
  return cuStreamGetCaptureInfo_v3(PerThread(stream), status, id, graph, dependencies, edges,
                                   dependency_count);
}
CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                        CUgraph* graph, const CUgraphNode** dependencies,
                                        size_t* dependency_count) {
  return cuStreamGetCaptureInfo_v2(PerThread(stream), status, id, graph, dependencies, dependency_count);
}
CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo(PerThread(stream), status, id);
}
CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus* status) {
  return cuStreamIsCapturing(PerThread(stream), status);
}

}  // extern "C"

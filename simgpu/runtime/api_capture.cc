// Implements stream capture.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"

using namespace simgpu::runtime;

// Both interfaces number modes and states in the same way, and describe edges in the same layout.
static_assert(int{cudaStreamCaptureModeRelaxed} == int{CU_STREAM_CAPTURE_MODE_RELAXED});
static_assert(int{cudaStreamCaptureStatusInvalidated} == int{CU_STREAM_CAPTURE_STATUS_INVALIDATED});
static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));

namespace {

CUstreamCaptureMode ModeOf(cudaStreamCaptureMode mode) { return static_cast<CUstreamCaptureMode>(mode); }

const CUgraphEdgeData* Edges(const cudaGraphEdgeData* edges) {
  return reinterpret_cast<const CUgraphEdgeData*>(edges);
}

}  // namespace

extern "C" cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return WithDriver([&](const Driver& driver) {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureMode own = ModeOf(*mode);
    const CUresult result = driver.cuThreadExchangeStreamCaptureMode(&own);
    if (result == CUDA_SUCCESS) *mode = static_cast<cudaStreamCaptureMode>(own);
    return result;
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamBeginCapture, _ptsz, (cudaStream_t stream, cudaStreamCaptureMode mode),
                           (stream, mode)) {
  return WithContext(
      [&](const Driver& driver) { return (driver.*calls).cuStreamBeginCapture(stream, ModeOf(mode)); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamBeginCaptureToGraph, _ptsz,
                           (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                            const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode),
                           (stream, graph, dependencies, edges, count, mode)) {
  return WithContext([&](const Driver& driver) {
    return (driver.*calls)
        .cuStreamBeginCaptureToGraph(stream, graph, dependencies, Edges(edges), count, ModeOf(mode));
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamEndCapture, _ptsz, (cudaStream_t stream, cudaGraph_t* graph),
                           (stream, graph)) {
  return WithContext([&](const Driver& driver) { return (driver.*calls).cuStreamEndCapture(stream, graph); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamIsCapturing, _ptsz,
                           (cudaStream_t stream, cudaStreamCaptureStatus* status), (stream, status)) {
  return WithContext([&](const Driver& driver) {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureStatus own = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUresult result = (driver.*calls).cuStreamIsCapturing(stream, &own);
    if (result == CUDA_SUCCESS) *status = static_cast<cudaStreamCaptureStatus>(own);
    return result;
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamGetCaptureInfo, _ptsz,
                           (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                            cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
                            const cudaGraphEdgeData** edges, size_t* count),
                           (stream, status, id, graph, dependencies, edges, count)) {
  return WithContext([&](const Driver& driver) {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUstreamCaptureStatus own = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t own_id = 0;
    const CUgraphEdgeData* own_edges = nullptr;
    const CUresult result = (driver.*calls)
                                .cuStreamGetCaptureInfo(stream, &own, &own_id, graph, dependencies,
                                                        edges == nullptr ? nullptr : &own_edges, count);
    if (result != CUDA_SUCCESS) return result;
    *status = static_cast<cudaStreamCaptureStatus>(own);
    if (own != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    if (id != nullptr) *id = own_id;
    if (edges != nullptr) *edges = reinterpret_cast<const cudaGraphEdgeData*>(own_edges);
    return CUDA_SUCCESS;
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaStreamUpdateCaptureDependencies, _ptsz,
                           (cudaStream_t stream, cudaGraphNode_t* dependencies,
                            const cudaGraphEdgeData* edges, size_t count, unsigned flags),
                           (stream, dependencies, edges, count, flags)) {
  return WithContext([&](const Driver& driver) {
    return (driver.*calls)
        .cuStreamUpdateCaptureDependencies(stream, dependencies, Edges(edges), count, flags);
  });
}

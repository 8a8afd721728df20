#include "simgpu/cuda/capture.h"

#include <algorithm>
#include <set>
#include <utility>

namespace simgpu {
namespace {

std::atomic<int> active{0};
std::uint64_t next_capture = 1;
thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

std::vector<std::shared_ptr<Capture>>& Active() {
  static auto* captures = new std::vector<std::shared_ptr<Capture>>;
  return *captures;
}

// Returns true if every node of `nodes` is one of `ends` or comes before one of them.
bool Reaches(const std::vector<GraphNode*>& ends, const std::vector<GraphNode*>& nodes) {
  std::set<GraphNode*> before(ends.begin(), ends.end());
  std::vector<GraphNode*> open(ends.begin(), ends.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    for (GraphNode* dependency : node->dependencies) {
      if (before.insert(dependency).second) open.push_back(dependency);
    }
  }
  return std::all_of(nodes.begin(), nodes.end(), [&](GraphNode* node) { return before.count(node) != 0; });
}

// Returns true if a blocking stream of the same context captures: work on the legacy stream would then have
// to be ordered against the capture. Invalidates that capture. REQUIRES: CaptureMutex() is held.
bool LegacyWouldJoin(const Stream& stream) {
  for (const auto& capture : Active()) {
    for (const auto& member : capture->streams) {
      const StreamPtr other = member.lock();
      if (other != nullptr && other->blocking && other->context.lock() == stream.context.lock()) {
        capture->invalidated = true;
        return true;
      }
    }
  }
  return false;
}

// Adds a node to the stream's graph and returns it. The stream goes on behind it. REQUIRES: CaptureMutex() is
// held.
GraphNode* AddNode(Stream& stream, CUgraphNodeType type, const WorkPtr& work) {
  GraphNode* node = stream.capture->graph->Add(type, work, stream.frontier);
  node->branch = stream.id;
  node->gpu = stream.device->gpu;
  stream.frontier = {node};
  return node;
}

}  // namespace

bool AnyCapture() { return active.load(std::memory_order_relaxed) != 0; }

std::mutex& CaptureMutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

CUresult BeginCapture(const StreamPtr& stream, CUstreamCaptureMode mode) {
  if (stream->legacy) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  const std::lock_guard lock(CaptureMutex());
  if (stream->capture != nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  auto capture = std::make_shared<Capture>();
  capture->id = next_capture++;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream.get();
  capture->streams.push_back(stream);
  stream->capture = capture;
  stream->frontier.clear();
  Handles<Graph>().Add(capture->graph);  // cuStreamGetCaptureInfo() gives it out
  Active().push_back(capture);
  ++active;
  return CUDA_SUCCESS;
}

CUresult EndCapture(const StreamPtr& stream, CUgraph* graph) {
  *graph = nullptr;
  const std::lock_guard lock(CaptureMutex());
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (capture->origin != stream.get()) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != std::this_thread::get_id()) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  CUresult result = capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
  for (const auto& member : capture->streams) {
    const StreamPtr joined = member.lock();
    if (joined == nullptr) continue;
    if (result == CUDA_SUCCESS && !Reaches(stream->frontier, joined->frontier)) {
      result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    }
    joined->capture = nullptr;
    if (joined != stream) joined->frontier.clear();
  }
  stream->frontier.clear();
  Active().erase(std::find(Active().begin(), Active().end(), capture));
  --active;
  if (result == CUDA_SUCCESS) {
    *graph = reinterpret_cast<CUgraph>(capture->graph.get());
  } else {
    Handles<Graph>().Remove(capture->graph.get());
  }
  return result;
}

CUstreamCaptureMode ExchangeCaptureMode(CUstreamCaptureMode mode) { return std::exchange(thread_mode, mode); }

CUresult CaptureWork(Stream& stream, CUgraphNodeType type, const WorkPtr& work, bool* captured) {
  const std::lock_guard lock(CaptureMutex());
  if (stream.capture == nullptr) {
    return stream.legacy && LegacyWouldJoin(stream) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
  }
  *captured = true;
  if (stream.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  AddNode(stream, type, work);
  return CUDA_SUCCESS;
}

CUresult CaptureExternalEvent(Stream& stream, CUgraphNodeType type, std::shared_ptr<Event> event) {
  const std::lock_guard lock(CaptureMutex());
  if (stream.capture == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (stream.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  AddNode(stream, type, nullptr)->event = std::move(event);
  return CUDA_SUCCESS;
}

CUresult CaptureEventRecord(Stream& stream, Event& event, bool* captured) {
  const std::lock_guard lock(CaptureMutex());
  if (stream.capture == nullptr) {
    return stream.legacy && LegacyWouldJoin(stream) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_SUCCESS;
  }
  *captured = true;
  if (stream.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  const std::lock_guard event_lock(event.mutex);
  event.record = nullptr;
  event.capture = stream.capture;
  event.nodes = stream.frontier;
  return CUDA_SUCCESS;
}

CUresult CaptureEventWait(const StreamPtr& stream, Event& event, bool* captured) {
  const std::lock_guard lock(CaptureMutex());
  const std::lock_guard event_lock(event.mutex);
  const bool event_captured = event.capture != nullptr &&
                              std::find(Active().begin(), Active().end(), event.capture) != Active().end();
  if (!event_captured && stream->capture == nullptr) return CUDA_SUCCESS;
  *captured = true;
  if (!event_captured) {
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  if (event.capture->invalidated) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (stream->capture == nullptr) {
    if (stream->legacy) {
      event.capture->invalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    stream->capture = event.capture;
    stream->frontier.clear();
    event.capture->streams.push_back(stream);
  } else if (stream->capture != event.capture) {
    stream->capture->invalidated = event.capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  for (GraphNode* node : event.nodes) {
    if (std::count(stream->frontier.begin(), stream->frontier.end(), node) == 0)
      stream->frontier.push_back(node);
  }
  return CUDA_SUCCESS;
}

CUresult RefuseDuringCapture() {
  if (!AnyCapture() || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const std::lock_guard lock(CaptureMutex());
  CUresult result = CUDA_SUCCESS;
  for (const auto& capture : Active()) {
    const bool own =
        capture->thread == std::this_thread::get_id() && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    const bool global =
        capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (!own && !global) continue;
    capture->invalidated = true;
    result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  return result;
}

bool IsCapturing(const Stream& stream) {
  if (!AnyCapture()) return false;
  const std::lock_guard lock(CaptureMutex());
  return stream.capture != nullptr;
}

CUresult RefuseWaitFor(Stream& stream) {
  if (!AnyCapture()) return CUDA_SUCCESS;
  {
    const std::lock_guard lock(CaptureMutex());
    if (stream.capture != nullptr) {
      stream.capture->invalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (stream.legacy && LegacyWouldJoin(stream)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  return RefuseDuringCapture();
}

}  // namespace simgpu

// Implements events.
#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/ipc/shared_event.h"
#include "simgpu/machine/os.h"

using namespace simgpu;

namespace {

class RecordWork final : public Work {
 public:
  explicit RecordWork(RecordPtr record) : record_(std::move(record)) {}
  bool IsRecord() const override { return true; }
  void Run(Lane& lane) const override { lane.Anchor(record_); }

 private:
  RecordPtr record_;
};

// Finds the latest record of an event; null if it was never recorded. Returns CUDA_ERROR_CAPTURED_EVENT if
// the latest record is part of a graph. Also finds what other processes share of it; null if they do not.
CUresult LatestRecord(CUevent handle, RecordPtr* record, std::shared_ptr<SharedEvent>* shared = nullptr) {
  if (const CUresult error = Ready(); error != CUDA_SUCCESS) return error;
  const auto event = Handles<Event>().Find(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const std::lock_guard lock(event->mutex);
  if (event->capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
  *record = event->record;
  if (shared != nullptr) *shared = event->shared;
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuEventCreate(CUevent* result, unsigned flags) {
  std::shared_ptr<Context> context;
  if (const CUresult error = RequireContext(&context); error != CUDA_SUCCESS) return error;
  constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  const bool interprocess = (flags & CU_EVENT_INTERPROCESS) != 0;
  if (result == nullptr || (flags & ~kKnown) != 0 ||
      (interprocess && (flags & CU_EVENT_DISABLE_TIMING) == 0)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto event = std::make_shared<Event>();
  event->context = context;
  event->flags = flags;
  if (interprocess && (event->shared = SharedEvent::Make()) == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *result = reinterpret_cast<CUevent>(Handles<Event>().Add(std::move(event)));
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
  return Handles<Event>().Remove(event) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
  StreamPtr stream;
  if (const CUresult error = FindStream(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  const auto event = Handles<Event>().Find(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (event->context.lock() != stream->context.lock()) return CUDA_ERROR_INVALID_HANDLE;
  if (flags == CU_EVENT_RECORD_EXTERNAL)
    return CaptureExternalEvent(*stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
  if (flags != CU_EVENT_RECORD_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
  if (AnyCapture()) {
    bool captured = false;
    const CUresult error = CaptureEventRecord(*stream, *event, &captured);
    if (captured || error != CUDA_SUCCESS) return error;
  }
  auto record = std::make_shared<Record>();
  {
    const std::lock_guard lock(event->mutex);
    event->record = record;
    event->capture = nullptr;
    event->nodes.clear();
  }
  const CUresult result =
      Submit(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, std::make_shared<RecordWork>(std::move(record)));
  if (result != CUDA_SUCCESS || event->shared == nullptr) return result;
  return Submit(stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event->shared->Record());
}

CUresult cuEventRecord(CUevent event, CUstream stream) { return cuEventRecordWithFlags(event, stream, 0); }

CUresult cuEventQuery(CUevent handle) {
  RecordPtr record;
  std::shared_ptr<SharedEvent> shared;
  if (const CUresult error = RefuseDuringCapture(); error != CUDA_SUCCESS) return error;
  if (const CUresult error = LatestRecord(handle, &record, &shared); error != CUDA_SUCCESS) return error;
  if (shared != nullptr) return shared->Reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  return record == nullptr || record->Reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventSynchronize(CUevent handle) {
  RecordPtr record;
  std::shared_ptr<SharedEvent> shared;
  if (const CUresult error = RefuseDuringCapture(); error != CUDA_SUCCESS) return error;
  if (const CUresult error = LatestRecord(handle, &record, &shared); error != CUDA_SUCCESS) return error;
  if (shared != nullptr) {
    shared->Synchronize();
  } else if (record != nullptr) {
    record->Wait();
  }
  return Ready();
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin_handle, CUevent end_handle) {
  RecordPtr begin, end;
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = LatestRecord(begin_handle, &begin); error != CUDA_SUCCESS) return error;
  if (const CUresult error = LatestRecord(end_handle, &end); error != CUDA_SUCCESS) return error;
  for (const CUevent handle : {begin_handle, end_handle}) {
    const auto event = Handles<Event>().Find(handle);
    if (event == nullptr || (event->flags & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
  }
  if (begin == nullptr || end == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const Nanos from = begin->ReachedAt(), to = end->ReachedAt();
  if (from == kNever || to == kNever) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(static_cast<double>(to - from) * 1e-6);
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, begin, end);
}

CUresult cuEventRecord_ptsz(CUevent event, CUstream stream) {
  return cuEventRecord(event, PerThread(stream));
}
CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned flags) {
  return cuEventRecordWithFlags(event, PerThread(stream), flags);
}

}  // extern "C"

// Implements events that are shared between processes: exported by one, opened by others.
#include "simgpu/cuda/context.h"
#include "simgpu/ipc/shared_event.h"

using namespace simgpu;

extern "C" {

// Needs an event that was made with CU_EVENT_INTERPROCESS, and so with CU_EVENT_DISABLE_TIMING.
CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto event = Handles<Event>().Find(event_handle);
  if (event == nullptr || event->shared == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return event->shared->Export(handle);
}

// Makes an event that behaves as one made with CU_EVENT_INTERPROCESS and CU_EVENT_DISABLE_TIMING.
CUresult cuIpcOpenEventHandle(CUevent* result, CUipcEventHandle handle) {
  std::shared_ptr<Context> context;
  if (const CUresult error = RequireContext(&context); error != CUDA_SUCCESS) return error;
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto event = std::make_shared<Event>();
  event->context = context;
  event->flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
  if (const CUresult error = SharedEvent::Open(handle, &event->shared); error != CUDA_SUCCESS) return error;
  *result = reinterpret_cast<CUevent>(Handles<Event>().Add(std::move(event)));
  return CUDA_SUCCESS;
}

}  // extern "C"

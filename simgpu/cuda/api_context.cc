// Implements contexts: primary contexts, the stack of current contexts, limits.
#include <algorithm>

#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"

using namespace simgpu;

#define FIND_DEVICE(ordinal, device)                                          \
  if (const CUresult ready_ = Ready(); ready_ != CUDA_SUCCESS) return ready_; \
  Device* const device = FindDevice(ordinal);                                 \
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE
#define REQUIRE_CONTEXT(context)    \
  std::shared_ptr<Context> context; \
  if (const CUresult required_ = RequireContext(&context); required_ != CUDA_SUCCESS) return required_

namespace {

CUcontext HandleOf(const std::shared_ptr<Context>& context) {
  return reinterpret_cast<CUcontext>(context.get());
}

}  // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* result, CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(device->mutex);
  if (device->primary == nullptr) {
    const CUresult made = MakeContext(device, device->primary_flags, true, &device->primary);
    if (made != CUDA_SUCCESS) return made;
  }
  ++device->primary_uses;
  *result = HandleOf(device->primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  std::shared_ptr<Context> last;
  {
    const std::lock_guard lock(device->mutex);
    if (device->primary_uses == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--device->primary_uses == 0) last = std::move(device->primary);
  }
  if (last != nullptr) DestroyContext(last);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  std::shared_ptr<Context> old;
  {
    const std::lock_guard lock(device->mutex);
    old = std::move(device->primary);
    device->primary_uses = 0;
  }
  if (old != nullptr) DestroyContext(old);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
  FIND_DEVICE(ordinal, device);
  const std::lock_guard lock(device->mutex);
  device->primary_flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  FIND_DEVICE(ordinal, device);
  const std::lock_guard lock(device->mutex);
  if (flags != nullptr) *flags = device->primary_flags;
  if (active != nullptr) *active = device->primary_uses > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}

// CUDA before version 11 has these functions under their plain names.
CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }
CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuCtxCreate_v2(CUcontext* result, unsigned flags, CUdevice ordinal) {
  FIND_DEVICE(ordinal, device);
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  if (const CUresult made = MakeContext(device, flags, false, &context); made != CUDA_SUCCESS) return made;
  // A context that is not primary lives until cuCtxDestroy() names it.
  ContextStack().push_back(context);
  *result = HandleOf(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v4(CUcontext* result, CUctxCreateParams* parameters, unsigned flags, CUdevice device) {
  if (parameters != nullptr &&
      (parameters->execAffinityParams != nullptr || parameters->cigParams != nullptr)) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  return cuCtxCreate_v2(result, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext* result, CUexecAffinityParam* affinity, int count, unsigned flags,
                        CUdevice device) {
  if (affinity != nullptr || count != 0) return CUDA_ERROR_NOT_SUPPORTED;
  return cuCtxCreate_v2(result, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  const auto context = Handles<Context>().Find(handle);
  if (context == nullptr || context->primary) return CUDA_ERROR_INVALID_CONTEXT;
  auto& stack = ContextStack();
  if (!stack.empty() && stack.back().lock() == context) stack.pop_back();
  DestroyContext(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  if (!Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  const auto context = Handles<Context>().Find(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  ContextStack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  if (!Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  auto& stack = ContextStack();
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (handle != nullptr) *handle = HandleOf(stack.back().lock());
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  if (!Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  auto& stack = ContextStack();
  if (handle == nullptr) {
    if (!stack.empty()) stack.pop_back();
    return CUDA_SUCCESS;
  }
  const auto context = Handles<Context>().Find(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (stack.empty()) stack.emplace_back();
  stack.back() = context;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  if (!Initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = HandleOf(Current());
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  REQUIRE_CONTEXT(context);
  *device = context->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned* flags) {
  REQUIRE_CONTEXT(context);
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned flags) {
  REQUIRE_CONTEXT(context);
  context->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  const auto context = handle == nullptr ? Current() : Handles<Context>().Find(handle);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *id = context->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (handle != nullptr && Handles<Context>().Find(handle) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize() {
  REQUIRE_CONTEXT(context);
  if (const CUresult error = RefuseDuringCapture(); error != CUDA_SUCCESS) return error;
  WaitForAll(context);
  return Ready();
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  REQUIRE_CONTEXT(context);
  const std::lock_guard lock(context->mutex);
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  REQUIRE_CONTEXT(context);
  if (limit >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(context->mutex);
  const auto found = context->limits.find(limit);
  *value = found != context->limits.end() ? found->second : limit == CU_LIMIT_STACK_SIZE ? 1024 : 8u << 20;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  REQUIRE_CONTEXT(context);
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache) {
  REQUIRE_CONTEXT(context);
  return CUDA_SUCCESS;
}

// Every device can use every address, so peers need no set-up.
CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  REQUIRE_CONTEXT(context);
  return flags == 0 && Handles<Context>().Find(peer) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  REQUIRE_CONTEXT(context);
  return Handles<Context>().Find(peer) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

}  // extern "C"

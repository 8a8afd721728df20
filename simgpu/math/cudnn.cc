// Implements cuDNN's handles, the descriptors of tensors and filters, and batch normalisation.
#include "simgpu/math/cudnn.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include "simgpu/math/export.h"
#include "simgpu/math/graph.h"
#include "simgpu/math/launch.h"

using namespace simgpu::math;

namespace {

constexpr std::size_t kVersion = 92600;         // of the library that it stands in for
constexpr std::size_t kRuntimeVersion = 13020;  // of the runtime that library was built with
constexpr int kMostDimensions = 8;

// A Shape is what cudnnTensorDescriptor_t and cudnnFilterDescriptor_t point to.
struct Shape {
  int data_type = 0;
  int format = 0;  // of filters
  std::vector<int> sizes;
  std::vector<int> strides;  // of tensors
};

template <typename Object>
int Create(Object** object) {
  if (object == nullptr) return kCudnnBadParam;
  *object = new (std::nothrow) Object;
  return *object != nullptr ? kCudnnSuccess : kCudnnAllocationFailed;
}

int Set(Shape* shape, int data_type, int format, int dimensions, const int* sizes, const int* strides) {
  if (shape == nullptr || sizes == nullptr || dimensions < 1 || dimensions > kMostDimensions)
    return kCudnnBadParam;
  if (std::any_of(sizes, sizes + dimensions, [](int size) { return size < 1; })) return kCudnnBadParam;
  shape->data_type = data_type;
  shape->format = format;
  shape->sizes.assign(sizes, sizes + dimensions);
  shape->strides = strides != nullptr ? std::vector<int>(strides, strides + dimensions) : std::vector<int>();
  return kCudnnSuccess;
}

void Give(const std::vector<int>& values, int wanted, int* to) {
  if (to != nullptr && wanted > 0) {
    std::copy_n(values.begin(), std::min<std::size_t>(values.size(), static_cast<std::size_t>(wanted)), to);
  }
}

// Queues a kernel that reads or writes the tensor `passes` times.
int LaunchPasses(const CudnnHandle* handle, const Shape* shape, std::uint64_t passes) {
  if (handle == nullptr) return kCudnnNotInitialized;
  if (shape == nullptr || shape->sizes.empty()) return kCudnnBadParam;
  std::uint64_t bytes = BytesOfData(shape->data_type) * passes;
  for (const int size : shape->sizes) bytes *= static_cast<std::uint64_t>(size);
  return Launch(KernelName::kNorm, CostOfTraffic(bytes, SmsHere()), handle->stream) ? kCudnnSuccess
                                                                                    : kCudnnExecutionFailed;
}

int NoBytes(std::size_t* bytes) {
  if (bytes == nullptr) return kCudnnBadParam;
  *bytes = 0;
  return kCudnnSuccess;
}

}  // namespace

SIMGPU_MATH_CALL std::size_t cudnnGetVersion() { return kVersion; }
SIMGPU_MATH_CALL std::size_t cudnnGetCudartVersion() { return kRuntimeVersion; }

SIMGPU_MATH_CALL const char* cudnnGetErrorString(int status) {
  switch (status) {
    case kCudnnSuccess:
      return "CUDNN_STATUS_SUCCESS";
    case kCudnnNotInitialized:
      return "CUDNN_STATUS_NOT_INITIALIZED";
    case kCudnnBadParam:
      return "CUDNN_STATUS_BAD_PARAM";
    case kCudnnNotSupported:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case kCudnnExecutionFailed:
      return "CUDNN_STATUS_EXECUTION_FAILED";
    default:
      return "CUDNN_STATUS_INTERNAL_ERROR";
  }
}

// Leaves an empty text: refusals are on stderr.
SIMGPU_MATH_CALL void cudnnGetLastErrorString(char* text, std::size_t bytes) {
  if (text != nullptr && bytes > 0) *text = '\0';
}

SIMGPU_MATH_CALL int cudnnGetProperty(int property, int* value) {
  constexpr int kProperties[] = {static_cast<int>(kVersion / 10000), static_cast<int>(kVersion / 100 % 100),
                                 static_cast<int>(kVersion % 100)};
  if (value == nullptr || property < 0 || property > 2) return kCudnnBadParam;
  *value = kProperties[property];
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnCreate(CudnnHandle** handle) {
  return UseContext() ? Create(handle) : kCudnnNotInitialized;
}

SIMGPU_MATH_CALL int cudnnDestroy(CudnnHandle* handle) {
  delete handle;
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnSetStream(CudnnHandle* handle, CUstream stream) {
  if (handle == nullptr) return kCudnnBadParam;
  handle->stream = stream;
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnGetStream(const CudnnHandle* handle, CUstream* stream) {
  if (handle == nullptr || stream == nullptr) return kCudnnBadParam;
  *stream = handle->stream;
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnCreateTensorDescriptor(Shape** shape) { return Create(shape); }
SIMGPU_MATH_CALL int cudnnCreateFilterDescriptor(Shape** shape) { return Create(shape); }

SIMGPU_MATH_CALL int cudnnDestroyTensorDescriptor(Shape* shape) {
  delete shape;
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnDestroyFilterDescriptor(Shape* shape) {
  delete shape;
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnSetTensorNdDescriptor(Shape* shape, int data_type, int dimensions, const int* sizes,
                                                const int* strides) {
  return strides != nullptr ? Set(shape, data_type, 0, dimensions, sizes, strides) : kCudnnBadParam;
}

SIMGPU_MATH_CALL int cudnnSetFilterNdDescriptor(Shape* shape, int data_type, int format, int dimensions,
                                                const int* sizes) {
  return Set(shape, data_type, format, dimensions, sizes, nullptr);
}

SIMGPU_MATH_CALL int cudnnGetTensorNdDescriptor(const Shape* shape, int wanted, int* data_type,
                                                int* dimensions, int* sizes, int* strides) {
  if (shape == nullptr || data_type == nullptr || dimensions == nullptr) return kCudnnBadParam;
  *data_type = shape->data_type;
  *dimensions = static_cast<int>(shape->sizes.size());
  Give(shape->sizes, wanted, sizes);
  Give(shape->strides, wanted, strides);
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnGetFilterNdDescriptor(const Shape* shape, int wanted, int* data_type, int* format,
                                                int* dimensions, int* sizes) {
  if (shape == nullptr || data_type == nullptr || format == nullptr || dimensions == nullptr)
    return kCudnnBadParam;
  *data_type = shape->data_type;
  *format = shape->format;
  *dimensions = static_cast<int>(shape->sizes.size());
  Give(shape->sizes, wanted, sizes);
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(const void*, int, int,
                                                                              const void*, const void*,
                                                                              const void*, const void*,
                                                                              const void*,
                                                                              std::size_t* bytes) {
  return NoBytes(bytes);
}

SIMGPU_MATH_CALL int cudnnGetBatchNormalizationBackwardExWorkspaceSize(const void*, int, int, const void*,
                                                                       const void*, const void*, const void*,
                                                                       const void*, const void*, const void*,
                                                                       std::size_t* bytes) {
  return NoBytes(bytes);
}

SIMGPU_MATH_CALL int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(const void*, int, int, const void*,
                                                                          const void*, std::size_t* bytes) {
  return NoBytes(bytes);
}

// The remaining parameters of these calls say where operands lie; the cost needs the shape alone.
SIMGPU_MATH_CALL int cudnnBatchNormalizationForwardTrainingEx(const CudnnHandle* handle, int, int,
                                                              const void*, const void*, const Shape* x) {
  return LaunchPasses(handle, x, 3);
}

SIMGPU_MATH_CALL int cudnnBatchNormalizationForwardInference(const CudnnHandle* handle, int, const void*,
                                                             const void*, const Shape* x) {
  return LaunchPasses(handle, x, 2);
}

SIMGPU_MATH_CALL int cudnnBatchNormalizationBackwardEx(const CudnnHandle* handle, int, int, const void*,
                                                       const void*, const void*, const void*,
                                                       const Shape* x) {
  return LaunchPasses(handle, x, 5);
}

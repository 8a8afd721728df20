// Helps programs of the tests to use the driver as a user's program does.
#pragma once

#include <cuda.h>

// Makes the primary context of a GPU current on the calling thread. Returns the driver's first error, if
// any.
inline CUresult UseDevice(int ordinal) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUresult result = cuDeviceGet(&device, ordinal);
  if (result == CUDA_SUCCESS) result = cuDevicePrimaryCtxRetain(&context, device);
  return result == CUDA_SUCCESS ? cuCtxSetCurrent(context) : result;
}

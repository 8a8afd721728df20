// Knows the device of each thread, and makes the device's primary context current if a call needs one.
#pragma once

#include "simgpu/runtime/driver.h"
#include "simgpu/runtime/last_error.h"

namespace simgpu::runtime {

// Loads and initialises the driver. Returns cudaErrorInsufficientDriver if there is none.
cudaError_t UseDriver(const Driver** driver);

// Does what UseDriver() does, and makes sure that the calling thread has a current context. A thread without
// one gets the primary context of its device. A context that the program made current through the driver API
// stays.
cudaError_t UseContext(const Driver** driver);

// Returns the device of the calling thread: that of its current context, or without a context the one that it
// chose last, at first 0.
cudaError_t GetDevice(const Driver& driver, int* device);

// Chooses the device of the calling thread and makes its primary context current.
cudaError_t SetDevice(const Driver& driver, int device);

// Returns the primary context of a device. Retains it on the first call in the process.
cudaError_t PrimaryContext(const Driver& driver, int device, CUcontext* context);

// Destroys the primary context of the calling thread's device. The next call that needs one makes a new one.
cudaError_t ResetDevice(const Driver& driver);

// Runs call(driver) with an initialised driver, or with a current context too. `call` returns a CUresult or a
// cudaError_t. Returns that as an error of the runtime, and remembers it as the thread's last error.
template <typename Call>
cudaError_t WithDriver(Call&& call) {
  const Driver* driver = nullptr;
  const cudaError_t error = UseDriver(&driver);
  return Keep(error != cudaSuccess ? error : ErrorOf(call(*driver)));
}
template <typename Call>
cudaError_t WithContext(Call&& call) {
  const Driver* driver = nullptr;
  const cudaError_t error = UseContext(&driver);
  return Keep(error != cudaSuccess ? error : ErrorOf(call(*driver)));
}

}  // namespace simgpu::runtime

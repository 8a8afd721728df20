// Keeps what programs register before main(): images of device code, the kernels in them by the address of
// their host function, and their variables by the address of the host variable. An image is loaded into the
// driver when the first of its kernels or variables is asked for. All functions are thread-safe.
#pragma once

#include <cstddef>

#include "simgpu/runtime/driver.h"
#include "simgpu/runtime/last_error.h"

namespace simgpu::runtime {

struct Image;

// Registers an image, which must live until ForgetImage(). The driver reads it; this library does not.
Image* RegisterImage(const void* data);

// Registers a kernel or a variable of the image. `name` must live as long as the image.
void RegisterKernel(Image* image, const void* host_function, const char* name);
void RegisterVariable(Image* image, const void* host_variable, const char* name);

// Forgets the image, its kernels and its variables, and unloads it from the driver if it is loaded.
void ForgetImage(Image* image);

// Finds the kernel of a host function. A `function` that is a handle of RememberHandle() is returned as it
// is. Returns cudaErrorInvalidDeviceFunction for any other pointer and for a kernel that its image lacks.
cudaError_t FindKernel(const Driver& driver, const void* function, CUkernel* kernel);

// Lets FindKernel() accept a handle that the driver gave.
void RememberHandle(CUkernel kernel);

// Finds the address and the size in bytes of a variable. Returns cudaErrorInvalidSymbol for an unknown one.
cudaError_t FindVariable(const Driver& driver, const void* host_variable, CUdeviceptr* address,
                         std::size_t* bytes);

}  // namespace simgpu::runtime

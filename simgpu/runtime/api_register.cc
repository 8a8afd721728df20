// Implements the calls that nvcc writes into programs to register their device code.
#include "simgpu/runtime/export.h"
#include "simgpu/runtime/images.h"
#include "simgpu/runtime/refuse.h"

using namespace simgpu::runtime;

namespace {

Image* ImageOf(void** library) { return reinterpret_cast<Image*>(library); }

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* image) { return reinterpret_cast<void**>(RegisterImage(image)); }

// Images are loaded at their first use, so nothing remains to be done when all is registered.
void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** library) {
  if (library != nullptr) ForgetImage(ImageOf(library));
}

void __cudaRegisterFunction(void** library, const char* host_function, char*, const char* device_name, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  RegisterKernel(ImageOf(library), host_function, device_name);
}

void __cudaRegisterVar(void** library, char* host_variable, char*, const char* device_name, int, size_t, int,
                       int) {
  RegisterVariable(ImageOf(library), host_variable, device_name);
}

// The variable stays unknown: a later call for it returns cudaErrorInvalidSymbol.
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) {
  Refuse("__cudaRegisterManagedVar", "this library has no managed variables");
}

}  // extern "C"

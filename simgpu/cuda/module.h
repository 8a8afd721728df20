// Modules, libraries and their kernels. A kernel and a function are the same object here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simgpu/cuda/api.h"
#include "simgpu/cuda/module_image.h"

namespace simgpu {

struct Module;

struct Kernel {
  KernelSpec spec;
  void (*function)(void* const*) = nullptr;  // of the process, run for its effect
  std::weak_ptr<Module> module;
};

struct Module {
  std::vector<std::shared_ptr<Kernel>> kernels;
};

// CUDA_ERROR_NO_BINARY_FOR_GPU for anything but our text form, CUDA_ERROR_INVALID_IMAGE (and a line on
// stderr) for a malformed one, CUDA_ERROR_NOT_FOUND for an `fn` that the process does not export.
CUresult LoadImage(const void* image, std::shared_ptr<Module>* module);
CUresult LoadImageFile(const char* path, std::shared_ptr<Module>* module);

std::shared_ptr<Kernel> FindKernel(const Module& module, const char* name);

}  // namespace simgpu

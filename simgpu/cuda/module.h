// Declares modules, libraries and their kernels. A kernel and a function are the same object here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simgpu/cuda/api.h"
#include "simgpu/cuda/module_image.h"

namespace simgpu {

struct Module;

struct Kernel {
  KernelSpec spec;
  void (*function)(void* const*) = nullptr;  // function of the process that runs for its effect, or null
  std::weak_ptr<Module> module;
  // These two are of machines that load lazily (loading.h).
  std::atomic<std::int64_t> launches{0};
  std::atomic<bool> loaded{false};
};

struct Module {
  std::vector<std::shared_ptr<Kernel>> kernels;
};

// Loads an image, or an image file. Returns CUDA_ERROR_NO_BINARY_FOR_GPU if the image is not in the text
// form of simgpu, CUDA_ERROR_INVALID_IMAGE (and prints a line to stderr) if the text is malformed, and
// CUDA_ERROR_NOT_FOUND if the process does not export a function that `fn` names. LoadImageFile() returns
// CUDA_ERROR_FILE_NOT_FOUND if it cannot read the file.
CUresult LoadImage(const void* image, std::shared_ptr<Module>* module);
CUresult LoadImageFile(const char* path, std::shared_ptr<Module>* module);

// Returns the kernel with this name, or null.
std::shared_ptr<Kernel> FindKernel(const Module& module, const char* name);

}  // namespace simgpu

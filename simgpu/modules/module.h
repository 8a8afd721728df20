// Declares modules, libraries and their kernels. A kernel and a function are the same object here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "simgpu/cuda/api.h"
#include "simgpu/cuda/module_image.h"
#include "simgpu/image/lazy.h"
#include "simgpu/modules/attributes.h"
#include "simgpu/modules/globals.h"
#include "simgpu/modules/known.h"

namespace simgpu {

struct Module;

struct Kernel {
  KernelSpec spec;
  void (*function)(void* const*) = nullptr;  // function of the process that runs for its effect, or null
  std::weak_ptr<Module> module;
  KernelAttributes attributes;
  KnownKernel known;  // of a kernel whose cost the rules say
  // These two are of machines that load lazily (loading.h).
  std::atomic<std::int64_t> launches{0};
  std::atomic<bool> loaded{false};
};

// A Module holds the kernels of a text at once. Those of a compiler's image it makes when one is first asked
// for.
struct Module {
  std::unique_ptr<image::LazyImage> image;  // null for a text
  Globals globals;
  std::mutex mutex;  // guards what follows
  bool made = false;
  std::vector<std::shared_ptr<Kernel>> kernels;
  std::unordered_map<std::string_view, std::shared_ptr<Kernel>> by_name;
};

// Says whether the caller promises that the bytes of an image stay where they are until it is unloaded.
enum class Preserved { kNo, kYes };

// Loads an image in the text form of simgpu, or one that a compiler made, or an image file. Returns
// CUDA_ERROR_NO_BINARY_FOR_GPU if the image is in neither form, or has nothing for the GPU;
// CUDA_ERROR_INVALID_IMAGE (and prints a line to stderr) if it is malformed; and CUDA_ERROR_NOT_FOUND if the
// process does not export a function that `fn` names. LoadImageFile() may also fail as ReadImageFile() does.
CUresult LoadImage(const void* image, Preserved preserved, std::shared_ptr<Module>* module);
CUresult LoadImageFile(const char* path, std::shared_ptr<Module>* module);

// Reads a file as it is. Returns CUDA_ERROR_INVALID_VALUE without a path, and CUDA_ERROR_FILE_NOT_FOUND if it
// cannot read the file or there is nothing in it.
CUresult ReadImageFile(const char* path, std::string* bytes);

// Makes the kernels of a module, unless they are made already, and their handles. Returns
// CUDA_ERROR_INVALID_IMAGE, and prints a line to stderr at the first time, if its image is malformed.
CUresult MakeKernels(const std::shared_ptr<Module>& module);

// Finds the kernel with this name. Returns CUDA_ERROR_NOT_FOUND if there is none, or fails as MakeKernels().
CUresult FindKernel(const std::shared_ptr<Module>& module, const char* name, std::shared_ptr<Kernel>* kernel);

}  // namespace simgpu

// Keeps the variables of modules. A variable has memory on each GPU on which a program asks for it, and it
// has it from then on until the module is unloaded. Thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>

#include "simgpu/cuda/api.h"
#include "simgpu/image/image.h"

namespace simgpu {

struct Device;

class Globals {
 public:
  Globals() = default;
  Globals(const Globals&) = delete;
  Globals& operator=(const Globals&) = delete;
  ~Globals();

  // Finds the variable of `image` with this name on a device, and gives it memory with its first content,
  // unless it has that already. Returns CUDA_ERROR_NOT_FOUND if there is none, and CUDA_ERROR_OUT_OF_MEMORY
  // if the GPU has no memory for it. `address` and `bytes` may be null.
  CUresult Find(const image::Image& image, const std::string& name, Device* device, CUdeviceptr* address,
                std::size_t* bytes);

 private:
  std::mutex mutex_;
  std::map<std::pair<const image::GlobalImage*, const Device*>, CUdeviceptr> places_;
};

}  // namespace simgpu

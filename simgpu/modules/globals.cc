#include "simgpu/modules/globals.h"

#include <algorithm>
#include <cstring>

#include "simgpu/cuda/memory.h"

namespace simgpu {

Globals::~Globals() {
  for (const auto& [global, address] : places_) Free(address, false);
}

CUresult Globals::Find(const image::Image& image, const std::string& name, Device* device,
                       CUdeviceptr* address, std::size_t* bytes) {
  const auto global = std::find_if(image.globals.begin(), image.globals.end(),
                                   [&](const image::GlobalImage& one) { return one.name == name; });
  if (global == image.globals.end()) return CUDA_ERROR_NOT_FOUND;
  const std::lock_guard lock(mutex_);
  auto place = places_.find({&*global, device});
  if (place == places_.end()) {
    CUdeviceptr memory = 0;
    const CUresult error =
        Allocate(device, static_cast<std::size_t>(global->bytes), MemoryKind::kDevice, 0, &memory);
    if (error != CUDA_SUCCESS) return error;
    if (!global->initial.empty()) {
      std::memcpy(reinterpret_cast<void*>(memory), global->initial.data(), global->initial.size());
    }
    place = places_.emplace(std::pair{&*global, device}, memory).first;
  }
  if (address != nullptr) *address = place->second;
  if (bytes != nullptr) *bytes = static_cast<std::size_t>(global->bytes);
  return CUDA_SUCCESS;
}

}  // namespace simgpu

#include "simgpu/cuda/module.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "simgpu/cuda/handles.h"

namespace simgpu {

CUresult LoadImage(const void* image, std::shared_ptr<Module>* module) {
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // A fat binary or cubin can be any bytes. Read only as far as they match the text form.
  const auto* text = static_cast<const char*>(image);
  if (std::strncmp(text, kImageMagic.data(), kImageMagic.size()) != 0) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  std::string error;
  const std::optional<ModuleImage> parsed = ParseModuleImage(text, &error);
  if (!parsed) {
    std::fprintf(stderr, "simgpu: module image: %s\n", error.c_str());
    return CUDA_ERROR_INVALID_IMAGE;
  }
  auto result = std::make_shared<Module>();
  for (const KernelSpec& spec : parsed->kernels) {
    auto kernel = std::make_shared<Kernel>();
    kernel->spec = spec;
    kernel->module = result;
    if (!spec.function.empty()) {
      kernel->function = reinterpret_cast<void (*)(void* const*)>(dlsym(RTLD_DEFAULT, spec.function.c_str()));
      if (kernel->function == nullptr) {
        std::fprintf(stderr, "simgpu: module image: kernel '%s': the process exports no function '%s'\n",
                     spec.name.c_str(), spec.function.c_str());
        return CUDA_ERROR_NOT_FOUND;
      }
    }
    result->kernels.push_back(std::move(kernel));
  }
  *module = std::move(result);
  return CUDA_SUCCESS;
}

CUresult LoadImageFile(const char* path, std::shared_ptr<Module>* module) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) return CUDA_ERROR_FILE_NOT_FOUND;
  return LoadImage(text.str().c_str(), module);
}

std::shared_ptr<Kernel> FindKernel(const Module& module, const char* name) {
  for (const auto& kernel : module.kernels) {
    if (kernel->spec.name == name) return kernel;
  }
  return nullptr;
}

}  // namespace simgpu

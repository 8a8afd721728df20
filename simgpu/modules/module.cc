#include "simgpu/modules/module.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "simgpu/cuda/handles.h"

namespace simgpu {
namespace {

CUresult Complain(CUresult error, const std::string& text) {
  std::fprintf(stderr, "simgpu: module image: %s\n", text.c_str());
  return error;
}

void Add(const std::shared_ptr<Module>& module, std::shared_ptr<Kernel> kernel) {
  kernel->module = module;
  Handles<Kernel>().Add(kernel);
  module->by_name.emplace(kernel->spec.name, kernel);
  module->kernels.push_back(std::move(kernel));
}

CUresult LoadText(const char* text, std::shared_ptr<Module>* module) {
  std::string error;
  const std::optional<ModuleImage> parsed = ParseModuleImage(text, &error);
  if (!parsed) return Complain(CUDA_ERROR_INVALID_IMAGE, error);
  std::vector<std::shared_ptr<Kernel>> kernels;
  for (const KernelSpec& spec : parsed->kernels) {
    auto kernel = std::make_shared<Kernel>();
    kernel->spec = spec;
    if (!spec.function.empty()) {
      kernel->function = reinterpret_cast<void (*)(void* const*)>(dlsym(RTLD_DEFAULT, spec.function.c_str()));
      if (kernel->function == nullptr) {
        return Complain(
            CUDA_ERROR_NOT_FOUND,
            "kernel '" + spec.name + "': the process exports no function '" + spec.function + "'");
      }
    }
    kernels.push_back(std::move(kernel));
  }
  auto result = std::make_shared<Module>();
  for (auto& kernel : kernels) Add(result, std::move(kernel));
  result->made = true;
  *module = std::move(result);
  return CUDA_SUCCESS;
}

CUresult LoadChoice(const image::Choice& choice, Preserved preserved, std::shared_ptr<Module>* module) {
  switch (choice.state) {
    case image::Choice::State::kChosen:
      break;
    case image::Choice::State::kMalformed:
      return Complain(CUDA_ERROR_INVALID_IMAGE, choice.text);
    case image::Choice::State::kNoneFits:
      return Complain(CUDA_ERROR_NO_BINARY_FOR_GPU, choice.text);
    case image::Choice::State::kUnknownForm:
      return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  *module = std::make_shared<Module>();
  (*module)->image = std::make_unique<image::LazyImage>(choice.payload, preserved == Preserved::kYes);
  return CUDA_SUCCESS;
}

bool IsText(const char* bytes) { return std::strncmp(bytes, kImageMagic.data(), kImageMagic.size()) == 0; }

KernelSpec SpecOf(const image::KernelImage& kernel) {
  KernelSpec spec;
  spec.name = kernel.name;
  spec.by_rule = true;
  for (const image::Parameter& parameter : kernel.parameters) {
    spec.argument_bytes.push_back(parameter.bytes);
    spec.argument_offsets.push_back(parameter.offset);
  }
  return spec;
}

}  // namespace

CUresult LoadImage(const void* image, Preserved preserved, std::shared_ptr<Module>* module) {
  if (image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const auto* text = static_cast<const char*>(image); IsText(text)) return LoadText(text, module);
  return LoadChoice(image::ChooseAt(image, kArchitecture), preserved, module);
}

CUresult ReadImageFile(const char* path, std::string* bytes) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  if (!file || !(content << file.rdbuf())) return CUDA_ERROR_FILE_NOT_FOUND;
  *bytes = content.str();
  return CUDA_SUCCESS;
}

CUresult LoadImageFile(const char* path, std::shared_ptr<Module>* module) {
  std::string bytes;
  if (const CUresult error = ReadImageFile(path, &bytes); error != CUDA_SUCCESS) return error;
  if (IsText(bytes.c_str())) return LoadText(bytes.c_str(), module);
  const image::View view(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return LoadChoice(image::Choose(view, kArchitecture), Preserved::kNo, module);
}

CUresult MakeKernels(const std::shared_ptr<Module>& module) {
  const std::lock_guard lock(module->mutex);
  if (module->made) return CUDA_SUCCESS;
  std::string error;
  const image::Image* image = module->image->Get(&error);
  if (image == nullptr) return Complain(CUDA_ERROR_INVALID_IMAGE, error);
  for (const image::KernelImage& kernel : image->kernels) {
    auto made = std::make_shared<Kernel>();
    made->spec = SpecOf(kernel);
    made->attributes.Take(kernel);
    Add(module, std::move(made));
  }
  module->made = true;
  return CUDA_SUCCESS;
}

CUresult FindKernel(const std::shared_ptr<Module>& module, const char* name,
                    std::shared_ptr<Kernel>* kernel) {
  if (const CUresult error = MakeKernels(module); error != CUDA_SUCCESS) return error;
  const std::lock_guard lock(module->mutex);
  const auto found = module->by_name.find(name);
  if (found == module->by_name.end()) return CUDA_ERROR_NOT_FOUND;
  *kernel = found->second;
  return CUDA_SUCCESS;
}

}  // namespace simgpu

// Implements the linker calls for the one case that needs no linker: a single image goes through as it is.
// Calls that encode tensor maps are refused, because what they write is known to the hardware alone.
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "simgpu/cuda/context.h"
#include "simgpu/image/fatbin.h"
#include "simgpu/modules/module.h"

using namespace simgpu;

namespace {

// A Link is a CUlinkState: the one image that was added, and a NUL behind it.
struct Link {
  std::mutex mutex;
  std::vector<std::uint8_t> image;
};

// Refuses a call that is not implemented. Says so once for each call of a process.
CUresult RefuseCall(const char* call, const char* why) {
  static auto* mutex = new std::mutex;
  static auto* said = new std::set<std::string>;
  const std::lock_guard lock(*mutex);
  if (said->insert(call).second) std::fprintf(stderr, "simgpu: %s: not implemented: %s\n", call, why);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult AddImage(const char* call, CUlinkState state, CUjitInputType type, const std::uint8_t* data,
                  std::size_t bytes) {
  const auto link = Handles<Link>().Find(state);
  if (link == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (data == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_JIT_INPUT_CUBIN && type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
    return RefuseCall(call, "expected a cubin, a fat binary or PTX, got an object, a library or NVVM code");
  }
  const image::Choice choice = image::Choose({data, bytes}, kArchitecture);
  if (choice.state != image::Choice::State::kChosen) {
    std::fprintf(stderr, "simgpu: %s: %s\n", call, choice.text.c_str());
    if (type == CU_JIT_INPUT_PTX) return CUDA_ERROR_INVALID_PTX;
    return choice.state == image::Choice::State::kNoneFits ? CUDA_ERROR_NO_BINARY_FOR_GPU
                                                           : CUDA_ERROR_INVALID_IMAGE;
  }
  const std::lock_guard lock(link->mutex);
  if (!link->image.empty()) return RefuseCall(call, "expected one image, got a second one to link with it");
  link->image.assign(data, data + bytes);
  link->image.push_back(0);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState* state) {
  std::shared_ptr<Context> context;
  if (const CUresult error = RequireContext(&context); error != CUDA_SUCCESS) return error;
  if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *state = reinterpret_cast<CUlinkState>(Handles<Link>().Add(std::make_shared<Link>()));
  return CUDA_SUCCESS;
}
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t bytes, const char*,
                          unsigned, CUjit_option*, void**) {
  return AddImage("cuLinkAddData", state, type, static_cast<const std::uint8_t*>(data), bytes);
}
CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned, CUjit_option*,
                          void**) {
  std::string bytes;
  if (const CUresult error = ReadImageFile(path, &bytes); error != CUDA_SUCCESS) return error;
  return AddImage("cuLinkAddFile", state, type, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                  bytes.size());
}
// The image stays until the state is destroyed.
CUresult cuLinkComplete(CUlinkState state, void** image, size_t* bytes) {
  const auto link = Handles<Link>().Find(state);
  if (link == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const std::lock_guard lock(link->mutex);
  if (image == nullptr || link->image.empty()) return CUDA_ERROR_INVALID_VALUE;
  *image = link->image.data();
  if (bytes != nullptr) *bytes = link->image.size() - 1;
  return CUDA_SUCCESS;
}
CUresult cuLinkDestroy(CUlinkState state) {
  return Handles<Link>().Remove(state) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                                CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                CUtensorMapFloatOOBfill) {
  return RefuseCall("cuTensorMapEncodeTiled", "kernels here read no tensor map");
}
CUresult cuTensorMapEncodeIm2col(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                 const cuuint64_t*, const int*, const int*, cuuint32_t, cuuint32_t,
                                 const cuuint32_t*, CUtensorMapInterleave, CUtensorMapSwizzle,
                                 CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  return RefuseCall("cuTensorMapEncodeIm2col", "kernels here read no tensor map");
}
CUresult cuTensorMapReplaceAddress(CUtensorMap*, void*) {
  return RefuseCall("cuTensorMapReplaceAddress", "kernels here read no tensor map");
}

}  // extern "C"

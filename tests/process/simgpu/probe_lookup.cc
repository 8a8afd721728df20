// Loads the driver as runtimes do: it opens it with dlopen, finds cuGetProcAddress_v2 with dlsym, and the
// rest through that.
#include <cudaTypedefs.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace {

PFN_cuGetProcAddress_v12000 get;
void* library;

void Fail(int line, const char* name) {
  std::fprintf(stderr, "line %d: %s\n", line, name);
  std::exit(1);
}

void* Ask(int line, const char* name, int version, cuuint64_t flags, CUresult expected,
          CUdriverProcAddressQueryResult expected_status) {
  void* address = nullptr;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result = get(name, &address, version, flags, &status);
  if (result != expected || status != expected_status ||
      (address != nullptr) != (status == CU_GET_PROC_ADDRESS_SUCCESS)) {
    Fail(line, name);
  }
  return address;
}

void ExpectSymbol(int line, const char* name, int version, cuuint64_t flags, const char* symbol) {
  if (Ask(line, name, version, flags, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS) != dlsym(library, symbol)) {
    Fail(line, symbol);
  }
}

}  // namespace

int main() {
  library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) Fail(__LINE__, dlerror());
  get = reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) Fail(__LINE__, dlerror());
  constexpr auto kLegacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
  constexpr auto kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  Ask(__LINE__, "", 0, 0, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  Ask(__LINE__, "cuNoSuchThing", 12000, 0, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  Ask(__LINE__, "cuMemAlloc", 2000, 0, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  ExpectSymbol(__LINE__, "cuMemAlloc", 3020, 0, "cuMemAlloc_v2");
  ExpectSymbol(__LINE__, "cuMemAlloc", 13000, kPerThread, "cuMemAlloc_v2");
  ExpectSymbol(__LINE__, "cuStreamWaitValue32", 8000, 0, "cuStreamWaitValue32");
  ExpectSymbol(__LINE__, "cuStreamWaitValue32", 11060, kLegacy, "cuStreamWaitValue32");
  ExpectSymbol(__LINE__, "cuStreamWaitValue32", 11070, kLegacy, "cuStreamWaitValue32_v2");
  ExpectSymbol(__LINE__, "cuStreamWaitValue32", 11070, kPerThread, "cuStreamWaitValue32_v2_ptsz");
  ExpectSymbol(__LINE__, "cuStreamGetCaptureInfo", 10010, 0, "cuStreamGetCaptureInfo");
  ExpectSymbol(__LINE__, "cuStreamGetCaptureInfo", 11030, 0, "cuStreamGetCaptureInfo_v2");
  ExpectSymbol(__LINE__, "cuStreamGetCaptureInfo", 12030, 0, "cuStreamGetCaptureInfo_v3");
  Ask(__LINE__, "cuLaunchKernel", 4000, kPerThread, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  ExpectSymbol(__LINE__, "cuLaunchKernel", 7000, kPerThread, "cuLaunchKernel_ptsz");
  ExpectSymbol(__LINE__, "cuMemcpyHtoD", 7000, kPerThread, "cuMemcpyHtoD_v2_ptds");
  ExpectSymbol(__LINE__, "cuGetProcAddress", 11030, 0, "cuGetProcAddress");
  ExpectSymbol(__LINE__, "cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2");
  ExpectSymbol(__LINE__, "cuInit", 99000, 0, "cuInit");
  void* address = library;
  if (get("cuInit", &address, 12000, 4, nullptr) != CUDA_ERROR_INVALID_VALUE) Fail(__LINE__, "flags");
  const auto get_first = reinterpret_cast<PFN_cuGetProcAddress_v11030>(dlsym(library, "cuGetProcAddress"));
  if (get_first("cuNoSuchThing", &address, 12000, 0) != CUDA_ERROR_NOT_FOUND || address != library)
    Fail(__LINE__, "cuNoSuchThing");
  const auto init = reinterpret_cast<PFN_cuInit_v2000>(
      Ask(__LINE__, "cuInit", 2000, 0, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS));
  const auto table = reinterpret_cast<PFN_cuGetExportTable_v3000>(
      Ask(__LINE__, "cuGetExportTable", 3000, 0, CUDA_SUCCESS, CU_GET_PROC_ADDRESS_SUCCESS));
  const void* exported = &init;
  const CUuuid any{};
  if (table(&exported, &any) == CUDA_SUCCESS || exported != nullptr) Fail(__LINE__, "cuGetExportTable");
  return init(0) == CUDA_SUCCESS ? 0 : 1;
}

#include <dlfcn.h>

#include <cstdio>
#include <string_view>

#include "benchmarks/driver/driver.h"
#include "benchmarks/gpu/programs/probes.h"

namespace crossover::bench {
namespace {

// Holds a function's exported name, and the name, version and flags under which cuGetProcAddress has it.
struct Entry {
  const char* symbol;
  const char* name;
  int version;
  cuuint64_t flags;
};

constexpr cuuint64_t kLegacy = CU_GET_PROC_ADDRESS_DEFAULT;
constexpr cuuint64_t kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

constexpr Entry kEntries[] = {
    {"cuInit", "cuInit", 2000, kLegacy},
    {"cuMemAlloc_v2", "cuMemAlloc", 3020, kLegacy},
    {"cuMemGetInfo_v2", "cuMemGetInfo", 3020, kLegacy},
    {"cuMemFree_v2", "cuMemFree", 3020, kLegacy},
    {"cuLaunchKernel", "cuLaunchKernel", 4000, kLegacy},
    {"cuLaunchKernel_ptsz", "cuLaunchKernel", 7000, kPerThread},
    {"cuLaunchKernelEx", "cuLaunchKernelEx", 11060, kLegacy},
    {"cuLaunchKernelEx_ptsz", "cuLaunchKernelEx", 11060, kPerThread},
    {"cuStreamWaitEvent", "cuStreamWaitEvent", 3020, kLegacy},
    {"cuStreamWaitEvent_ptsz", "cuStreamWaitEvent", 7000, kPerThread},
    {"cuStreamSynchronize_ptsz", "cuStreamSynchronize", 7000, kPerThread},
    {"cuEventRecord", "cuEventRecord", 2000, kLegacy},
    {"cuStreamBatchMemOp_v2", "cuStreamBatchMemOp", 11070, kLegacy},
    {"cuStreamWaitValue32_v2", "cuStreamWaitValue32", 11070, kLegacy},
    {"cuMemcpyDtoHAsync_v2", "cuMemcpyDtoHAsync", 3020, kLegacy},
    {"cuGraphLaunch", "cuGraphLaunch", 10000, kLegacy},
    {"cuGetProcAddress_v2", "cuGetProcAddress", 12000, kLegacy},
};

using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);

}  // namespace

// Known bad: a look-up by name alone, which ignores versions, finds another function.
int Lookups(Arguments) {
  Check(Cuda().cuInit(0), "cuInit");
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (get == nullptr) return std::fputs("no cuGetProcAddress_v2\n", stderr), 1;
  int same = 0, missing = 0, same_by_name = 0, versioned = 0;
  const char* separator = "";
  std::printf("{\"differ\": [");
  for (const Entry& entry : kEntries) {
    void* found = nullptr;
    const bool known = get(entry.name, &found, entry.version, entry.flags, nullptr) == CUDA_SUCCESS;
    void* const symbol = dlsym(library, entry.symbol);
    if (!known || found == nullptr || symbol == nullptr) ++missing;
    if (found != nullptr && found == symbol) {
      ++same;
    } else {
      std::printf("%s\"%s\"", separator, entry.symbol);
      separator = ", ";
    }
    if (std::string_view(entry.name) == entry.symbol) continue;
    ++versioned;
    same_by_name += dlsym(library, entry.name) == found;
  }
  std::printf(
      "], \"functions\": %d, \"same\": %d, \"missing\": %d, \"versioned\": %d, \"same_by_name\": %d}\n",
      static_cast<int>(std::size(kEntries)), same, missing, versioned, same_by_name);
  return 0;
}

}  // namespace crossover::bench

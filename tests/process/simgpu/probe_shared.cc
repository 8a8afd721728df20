// Uses a GPU that other processes use too: its memory, its contexts, its copies. The first argument names the
// part to play; the part's own arguments follow. The parts print what calls return, as numbers.
#include <unistd.h>

#include <cstdint>
#include <string>

#include "tests/process/simgpu/probe.h"

namespace {

constexpr std::size_t kBytes = 2 << 20;  // the granularity of cuMemCreate

CUresult Create(CUmemGenericAllocationHandle* handle) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  return cuMemCreate(handle, kBytes, &properties, 0);
}

CUresult Import(int fd, CUmemGenericAllocationHandle* handle) {
  return cuMemImportFromShareableHandle(handle, reinterpret_cast<void*>(std::intptr_t{fd}),
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

// Imports memory of its own so often.
int PlayImports(int count) {
  const Program program;
  CUmemGenericAllocationHandle own, imported;
  OK(Create(&own));
  int fd = -1;
  OK(cuMemExportToShareableHandle(&fd, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  for (int i = 0; i < count; ++i) std::printf("%d ", static_cast<int>(Import(fd, &imported)));
  return 0;
}

// Allocates memory of the GPU in three ways, and then memory of the host.
int PlayAllocations() {
  const Program program;
  CUdeviceptr address;
  CUmemGenericAllocationHandle handle;
  void* host = nullptr;
  const CUresult results[] = {cuMemAlloc(&address, 4096),
                              cuMemAllocManaged(&address, 4096, CU_MEM_ATTACH_GLOBAL), Create(&handle),
                              cuMemHostAlloc(&host, 4096, 0)};
  for (const CUresult result : results) std::printf("%d ", static_cast<int>(result));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 2);
  const std::string part = argv[1];
  if (part == "imports") return PlayImports(std::atoi(argv[2]));
  if (part == "allocations") return PlayAllocations();
  return 2;
}

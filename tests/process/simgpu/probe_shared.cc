// Uses a GPU that other processes use too: its memory, its contexts, its copies. The first argument names the
// part to play; the part's own arguments follow. The parts print what calls return, as numbers, unless a
// comment says otherwise.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <span>
#include <string>

#include "common/base/descriptors.h"
#include "tests/process/simgpu/probe.h"

namespace base = crossover::base;

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

// Makes a context on each device that the arguments name, and prints what that returned. Then waits until the
// input ends, or the process has lost its contexts, and prints what calls return.
int PlayHold(int count, char** ordinals) {
  OK(cuInit(0));
  for (int i = 0; i < count; ++i) {
    CUcontext context;
    std::printf("%d ", static_cast<int>(cuDevicePrimaryCtxRetain(&context, std::atoi(ordinals[i]))));
  }
  std::printf("\n");
  std::fflush(stdout);
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  int devices = 0;
  while (cuDeviceGetCount(&devices) == CUDA_SUCCESS && poll(&input, 1, 1) == 0) {
  }
  std::printf("%d\n", static_cast<int>(cuDeviceGetCount(&devices)));
  return 0;
}

// Prints the compute mode, and what it returns when it makes the primary context and another one, and when it
// makes the primary one again after it has released both.
int PlayMode() {
  OK(cuInit(0));
  int mode = -1;
  OK(cuDeviceGetAttribute(&mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 0));
  CUcontext primary, other;
  const CUresult first = cuDevicePrimaryCtxRetain(&primary, 0);
  const CUresult second = cuCtxCreate(&other, nullptr, 0, 0);
  if (second == CUDA_SUCCESS) OK(cuCtxDestroy(other));
  if (first == CUDA_SUCCESS) OK(cuDevicePrimaryCtxRelease(0));
  std::printf("%d %d %d %d\n", mode, static_cast<int>(first), static_cast<int>(second),
              static_cast<int>(cuDevicePrimaryCtxRetain(&primary, 0)));
  return 0;
}

// Prints how long each kind of copy took, in ms.
int PlayCopies() {
  const Program program;
  CUdeviceptr memory;
  OK(cuMemAlloc(&memory, kBytes));
  static char host[1 << 20];
  const auto timed = [](auto copy) {
    const long long begin = Now();
    OK(copy());
    OK(cuCtxSynchronize());
    std::printf("%.3f ", static_cast<double>(Now() - begin) * 1e-6);
  };
  timed([&] { return cuMemcpyHtoD(memory, host, 4); });
  timed([&] { return cuMemcpyDtoH(host, memory, sizeof host); });
  timed([&] { return cuMemcpyHtoDAsync(memory, host, sizeof host, nullptr); });
  timed([&] { return cuMemsetD32(memory, 1, 1); });
  CUDA_MEMCPY2D rectangle{};
  rectangle.srcMemoryType = CU_MEMORYTYPE_HOST;
  rectangle.srcHost = host;
  rectangle.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rectangle.dstDevice = memory;
  rectangle.WidthInBytes = rectangle.Height = 4;
  timed([&] { return cuMemcpy2D(&rectangle); });
  return 0;
}

// An Export is what a process tells of memory that it shares by IPC handles.
struct Export {
  CUipcMemHandle kept, freed;
};

// Maps memory of cuMemCreate.
CUdeviceptr Map(CUmemGenericAllocationHandle handle) {
  CUdeviceptr address;
  OK(cuMemAddressReserve(&address, kBytes, 0, 0, 0));
  OK(cuMemMap(address, kBytes, 0, handle, 0));
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  OK(cuMemSetAccess(address, kBytes, &access, 1));
  return address;
}

unsigned WordAt(CUdeviceptr address) {
  unsigned word = 0;
  OK(cuMemcpyDtoH(&word, address, sizeof word));
  return word;
}

// Receives what a process tells, and a descriptor.
int Receive(int socket, Export* message) {
  int fd = -1;
  const auto arrival = base::ReceiveWithDescriptors(socket, message, sizeof *message, 0,
                                                    [&fd](int received) { fd = received; });
  CHECK(arrival.size == static_cast<ssize_t>(sizeof *message) && fd >= 0);
  return fd;
}

// Exports memory of three kinds: of cuMemCreate by a descriptor, and by IPC handles what it keeps and what it
// frees when the other side has opened it. Then waits to be killed.
void ExportAndStay(int socket) {
  const Program program;
  CUmemGenericAllocationHandle created;
  OK(Create(&created));
  OK(cuMemsetD32(Map(created), 77, 1));
  CUdeviceptr kept, freed;
  OK(cuMemAlloc(&kept, 4096));
  OK(cuMemAlloc(&freed, 4096));
  OK(cuMemsetD32(kept, 78, 1));
  OK(cuMemsetD32(freed, 79, 1));
  OK(cuCtxSynchronize());
  Export message;
  OK(cuIpcGetMemHandle(&message.kept, kept));
  OK(cuIpcGetMemHandle(&message.freed, freed));
  int fd = -1;
  OK(cuMemExportToShareableHandle(&fd, created, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CHECK(base::SendWithDescriptors(socket, &message, sizeof message, std::span(&fd, 1), 0) ==
        static_cast<ssize_t>(sizeof message));
  char opened = 0;
  CHECK(read(socket, &opened, 1) == 1);
  OK(cuMemFree(freed));
  CHECK(write(socket, &opened, 1) == 1);
  for (;;) pause();
}

// Imports what another process exports, which is then killed. Prints what it read of each kind before and
// after memory was freed and the exporter was gone; 0 and a result if a handle opens no memory.
int PlayOutlive() {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t exporter = fork();
  CHECK(exporter >= 0);
  close(ends[exporter == 0 ? 0 : 1]);
  if (exporter == 0) ExportAndStay(ends[1]);
  Export message;
  const int fd = Receive(ends[0], &message);
  const Program program;
  CUdeviceptr kept, freed, again;
  OK(cuIpcOpenMemHandle(&kept, message.kept, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  OK(cuIpcOpenMemHandle(&freed, message.freed, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  CUmemGenericAllocationHandle before, after;
  OK(Import(fd, &before));
  std::printf("%u %u %u ", WordAt(Map(before)), WordAt(kept), WordAt(freed));
  char step = 0;
  CHECK(write(ends[0], &step, 1) == 1 && read(ends[0], &step, 1) == 1);
  const CUresult of_freed = cuIpcOpenMemHandle(&again, message.freed, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  std::printf("%u %d ", WordAt(freed), of_freed != CUDA_SUCCESS);
  CHECK(kill(exporter, SIGKILL) == 0 && waitpid(exporter, nullptr, 0) == exporter);
  const CUresult of_kept = cuIpcOpenMemHandle(&again, message.kept, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  OK(Import(fd, &after));
  std::printf("%u %d\n", WordAt(Map(after)), of_kept != CUDA_SUCCESS);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 2);
  const std::string part = argv[1];
  if (part == "imports") return PlayImports(std::atoi(argv[2]));
  if (part == "allocations") return PlayAllocations();
  if (part == "hold") return PlayHold(argc - 2, argv + 2);
  if (part == "mode") return PlayMode();
  if (part == "copies") return PlayCopies();
  if (part == "outlive") return PlayOutlive();
  return 2;
}

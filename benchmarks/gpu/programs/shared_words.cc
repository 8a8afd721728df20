#include "benchmarks/gpu/programs/shared_words.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

#include "common/base/descriptors.h"

namespace crossover::bench {
namespace {

constexpr std::size_t kBytes = 4096;

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::exit(1);
}

// Sends one message, with a descriptor where `fd` is not negative. Ends the program on errors.
void Pass(int socket, const void* bytes, std::size_t size, int fd) {
  const std::span<const int> fds(&fd, fd >= 0 ? 1 : 0);
  if (base::SendWithDescriptors(socket, bytes, size, fds, MSG_NOSIGNAL) != static_cast<ssize_t>(size))
    Die("sendmsg");
}

int Take(int socket, void* bytes, std::size_t size) {
  iovec part{bytes, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(size)) Die("recvmsg");
  int fd = -1;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message)) std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return fd;
}

CUdeviceptr Map(CUmemGenericAllocationHandle handle, std::size_t bytes, CUdevice device) {
  CUdeviceptr address = 0;
  Check(Cuda().cuMemAddressReserve(&address, bytes, 0, 0, 0), "cuMemAddressReserve");
  Check(Cuda().cuMemMap(address, bytes, 0, handle, 0), "cuMemMap");
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  Check(Cuda().cuMemSetAccess(address, bytes, &access, 1), "cuMemSetAccess");
  return address;
}

CUdeviceptr ByVmm(int client, int socket, CUdevice device) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = device;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  std::size_t bytes = 0;
  Check(Cuda().cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM), "granularity");
  CUmemGenericAllocationHandle handle = 0;
  if (client == 0) {
    int fd = -1;
    Check(Cuda().cuMemCreate(&handle, bytes, &prop, 0), "cuMemCreate");
    Check(Cuda().cuMemExportToShareableHandle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          "cuMemExportToShareableHandle");
    const CUdeviceptr address = Map(handle, bytes, device);
    Check(Cuda().cuMemsetD8(address, 0, kBytes), "cuMemsetD8");
    Pass(socket, &bytes, sizeof bytes, fd);
    return address;
  }
  const int fd = Take(socket, &bytes, sizeof bytes);
  Check(
      Cuda().cuMemImportFromShareableHandle(&handle, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
      "cuMemImportFromShareableHandle");
  return Map(handle, bytes, device);
}

CUdeviceptr ByIpc(int client, int socket) {
  CUdeviceptr address = 0;
  CUipcMemHandle handle{};
  if (client == 0) {
    Check(Cuda().cuMemAlloc(&address, kBytes), "cuMemAlloc");
    Check(Cuda().cuMemsetD8(address, 0, kBytes), "cuMemsetD8");
    Check(Cuda().cuIpcGetMemHandle(&handle, address), "cuIpcGetMemHandle");
    Pass(socket, &handle, sizeof handle, -1);
    return address;
  }
  Take(socket, &handle, sizeof handle);
  Check(Cuda().cuIpcOpenMemHandle(&address, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
        "cuIpcOpenMemHandle");
  return address;
}

}  // namespace

std::optional<Home> HomeFrom(std::string_view name) {
  if (name == "host") return Home::kHost;
  if (name == "vmm") return Home::kVmm;
  if (name == "ipc") return Home::kIpc;
  return std::nullopt;
}

CUdeviceptr SharedWords(Home home, int client, int socket, std::uint32_t* host, CUdeviceptr host_on_device,
                        CUdevice device) {
  switch (home) {
    case Home::kVmm:
      return ByVmm(client, socket, device);
    case Home::kIpc:
      return ByIpc(client, socket);
    default:
      host[0] = 0;  // both clients store the same values before either begins
      host[1] = 0;
      return host_on_device;
  }
}

}  // namespace crossover::bench

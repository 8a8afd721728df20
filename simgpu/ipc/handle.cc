#include "simgpu/ipc/handle.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace simgpu {

namespace {

constexpr char kMagic[] = {'s', 'i', 'm', 'g', 'p', 'u', 'i'};

std::uint64_t PidNamespace() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

bool IsOf(const IpcHandle& handle, IpcKind kind) {
  return std::memcmp(handle.magic, kMagic, sizeof kMagic) == 0 &&
         handle.magic[sizeof kMagic] == static_cast<char>(kind);
}

}  // namespace

void WriteIpcHandle(void* raw, IpcKind kind, int fd, std::uint64_t bytes, std::uint64_t offset) {
  IpcHandle handle{};
  std::memcpy(handle.magic, kMagic, sizeof kMagic);
  handle.magic[sizeof kMagic] = static_cast<char>(kind);
  handle.pid_namespace = PidNamespace();
  handle.pid = getpid();
  handle.fd = fd;
  handle.bytes = bytes;
  handle.offset = offset;
  std::memset(raw, 0, sizeof(CUipcMemHandle));
  std::memcpy(raw, &handle, sizeof handle);
}

CUresult OpenIpcHandle(const void* raw, IpcKind kind, CUresult not_one, IpcHandle* handle,
                       crossover::base::UniqueFd* fd) {
  std::memcpy(handle, raw, sizeof *handle);
  if (!IsOf(*handle, kind) || handle->bytes == 0 || handle->offset >= handle->bytes) return not_one;
  if (handle->pid_namespace != PidNamespace() || handle->pid == getpid()) return CUDA_ERROR_INVALID_CONTEXT;
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->pid, handle->fd);
  crossover::base::UniqueFd opened(open(path, O_RDWR | O_CLOEXEC));
  struct stat status {};
  if (!opened || fstat(opened.get(), &status) != 0) return CUDA_ERROR_INVALID_CONTEXT;
  // The number may belong to another file by now. A file that is too short would end the process at an
  // access.
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) < handle->bytes) return not_one;
  *fd = std::move(opened);
  return CUDA_SUCCESS;
}

}  // namespace simgpu

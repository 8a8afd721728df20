// Names a file of one process in an IPC handle, so that another process can open it. Memory and events are
// shared so.
#pragma once

#include <cstdint>

#include "common/base/fd.h"
#include "simgpu/cuda/api.h"

namespace simgpu {

// IpcKind says what a handle is of. The values are the last letters of the handle's magic.
enum class IpcKind : char { kMemory = '1', kEvent = 'e' };

// An IpcHandle is the content of an IPC handle. It says where the exporter's descriptor is.
struct IpcHandle {
  char magic[8];
  std::uint64_t pid_namespace;
  std::int32_t pid;
  std::int32_t fd;
  std::uint64_t bytes;
  std::uint64_t offset;
};
static_assert(sizeof(IpcHandle) <= sizeof(CUipcMemHandle));
static_assert(sizeof(IpcHandle) <= sizeof(CUipcEventHandle));

// Fills in a handle of 64 bytes for a descriptor of the calling process.
void WriteIpcHandle(void* raw, IpcKind kind, int fd, std::uint64_t bytes, std::uint64_t offset);

// Reads a handle of 64 bytes and opens its file. Returns `not_one` if it is no handle of this kind. Exporter
// and importer must see each other's process IDs. Between ordinary pods they do not. The answer is then
// "invalid device context", as with the real driver, and so it is for a handle of the calling process itself.
CUresult OpenIpcHandle(const void* raw, IpcKind kind, CUresult not_one, IpcHandle* handle,
                       crossover::base::UniqueFd* fd);

}  // namespace simgpu

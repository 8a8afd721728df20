#include "simgpu/kernels/pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace simgpu {
namespace {

// Gives whole pages back. Returns false, and has changed no byte to anything but zero, if the system does not
// take them.
bool GiveBack(void* begin, std::size_t bytes) {
  // The first call makes a hole in the file behind a shared mapping. It fails with EINVAL for memory that
  // belongs to no file: there the second call is enough. For a private mapping of a file the first one fails
  // in another way.
  if (madvise(begin, bytes, MADV_REMOVE) == 0) return true;
  return errno == EINVAL && madvise(begin, bytes, MADV_DONTNEED) == 0;
}

}  // namespace

void WriteZeros(void* begin, std::size_t bytes) {
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t inner = (first + page - 1) / page * page, end = (first + bytes) / page * page;
  if (bytes < kLeastPages || inner >= end || !GiveBack(reinterpret_cast<void*>(inner), end - inner)) {
    std::memset(begin, 0, bytes);
    return;
  }
  std::memset(begin, 0, inner - first);
  std::memset(reinterpret_cast<void*>(end), 0, first + bytes - end);
}

}  // namespace simgpu

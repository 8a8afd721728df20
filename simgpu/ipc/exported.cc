#include "simgpu/ipc/exported.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>

namespace simgpu {
namespace {

// An Exports keeps the descriptors of exported allocations, by their IDs.
struct Exports {
  std::mutex mutex;
  std::map<std::uint64_t, int> descriptors;
};

Exports& TheExports() {
  static auto* exports = new Exports;
  return *exports;
}

// Moves memory into the file, at the same address. Returns false if it cannot.
bool MoveInto(int fd, const Allocation& memory) {
  if (ftruncate(fd, static_cast<off_t>(memory.mapped_bytes)) != 0) return false;
  auto* base = reinterpret_cast<char*>(memory.base);
  for (std::size_t done = 0; done < memory.mapped_bytes;) {
    const ssize_t wrote = pwrite(fd, base + done, memory.mapped_bytes - done, static_cast<off_t>(done));
    if (wrote <= 0) return false;
    done += static_cast<std::size_t>(wrote);
  }
  return mmap(base, memory.mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
}

}  // namespace

int MakeShareable(const Allocation& memory) {
  Exports& exports = TheExports();
  const std::lock_guard lock(exports.mutex);
  const auto found = exports.descriptors.find(memory.id);
  if (found != exports.descriptors.end()) return found->second;
  const int fd = memfd_create("simgpu-ipc", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (MoveInto(fd, memory)) return exports.descriptors[memory.id] = fd;
  close(fd);
  return -1;
}

void EndSharing(const Allocation& memory) {
  Exports& exports = TheExports();
  const std::lock_guard lock(exports.mutex);
  const auto found = exports.descriptors.find(memory.id);
  if (found == exports.descriptors.end()) return;
  fallocate(found->second, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
            static_cast<off_t>(memory.mapped_bytes));
  close(found->second);
  exports.descriptors.erase(found);
}

}  // namespace simgpu

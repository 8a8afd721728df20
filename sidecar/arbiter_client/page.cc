#include "sidecar/arbiter_client/page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/base/futex.h"

// Not every C library that we build against has these.
#ifndef F_GET_SEALS
#define F_GET_SEALS (1024 + 10)
#define F_SEAL_SHRINK 0x0002
#define F_SEAL_GROW 0x0004
#endif

namespace crossover::arbiter_client {

crossover_page* MapPage(int fd, const char** why) {
  struct stat status {};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || (seals & F_SEAL_GROW) == 0) {
    *why =
        "the turnstile is not sealed: expected a memfd with F_SEAL_SHRINK and F_SEAL_GROW, got a file "
        "without "
        "them; the process at this socket may be another one than the node daemon";
    return nullptr;
  }
  if (::fstat(fd, &status) != 0 || status.st_size != CROSSOVER_PAGE_BYTES) {
    *why = "the turnstile has a wrong size: use the daemon and the library of one release";
    return nullptr;
  }
  void* mapped = ::mmap(nullptr, CROSSOVER_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) {
    *why = "the turnstile cannot be mapped: this process may be at its limit of address space or of mappings";
    return nullptr;
  }
  auto* page = static_cast<crossover_page*>(mapped);
  if (base::LoadWord(&page->magic) != CROSSOVER_TURNSTILE_MAGIC ||
      base::LoadWord(&page->version) != CROSSOVER_TURNSTILE_VERSION ||
      base::LoadWord(&page->bytes) != sizeof(crossover_page) ||
      base::LoadWord(&page->clients) != CROSSOVER_MAX_CLIENTS) {
    *why = "the turnstile is of another version: use the daemon and the library of one release";
    ::munmap(mapped, CROSSOVER_PAGE_BYTES);
    return nullptr;
  }
  ::madvise(mapped, CROSSOVER_PAGE_BYTES, MADV_DONTFORK);
  return page;
}

void UnmapPage(crossover_page* page) { ::munmap(page, CROSSOVER_PAGE_BYTES); }

}  // namespace crossover::arbiter_client

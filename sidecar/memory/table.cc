#include "sidecar/memory/table.h"

#include <sys/mman.h>

namespace crossover::memory {

void* GetPages(std::size_t bytes) {
  void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void ReturnPages(void* pages, std::size_t bytes) { ::munmap(pages, bytes); }

}  // namespace crossover::memory

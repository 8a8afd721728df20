#include "simgpu/runtime/refuse.h"

#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <string_view>

namespace simgpu::runtime {

void Refuse(const char* name, const char* reason) {
  static auto* mutex = new std::mutex;  // both are never freed: threads may call while the process exits
  static auto* told = new std::set<std::string_view>;
  {
    const std::lock_guard lock(*mutex);
    if (!told->insert(name).second) return;
  }
  std::fprintf(stderr, "simgpu runtime [%d] refused %s: %s\n", getpid(), name, reason);
}

}  // namespace simgpu::runtime

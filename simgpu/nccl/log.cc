#include "simgpu/nccl/log.h"

#include <strings.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

namespace simgpu::nccl {

namespace {

struct Shared {
  std::mutex mutex;
  std::string last_error;
};

// The state is never freed, because engine threads may still log while the process exits.
Shared& State() {
  static auto* state = new Shared;
  return *state;
}

bool Verbose() {
  const char* level = std::getenv("NCCL_DEBUG");
  return level != nullptr && (strcasecmp(level, "WARN") == 0 || strcasecmp(level, "INFO") == 0 ||
                              strcasecmp(level, "TRACE") == 0);
}

}  // namespace

void Warn(const std::string& text) {
  static const bool verbose = Verbose();
  if (verbose) std::fprintf(stderr, "simgpu nccl [%d] WARN %s\n", getpid(), text.c_str());
}

ncclResult_t Refuse(ncclResult_t result, const std::string& text) {
  {
    const std::lock_guard lock(State().mutex);
    State().last_error = text;
  }
  Warn(text);
  return result;
}

const char* LastError() {
  thread_local std::string copy;
  const std::lock_guard lock(State().mutex);
  copy = State().last_error;
  return copy.c_str();
}

}  // namespace simgpu::nccl

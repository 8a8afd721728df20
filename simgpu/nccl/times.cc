#include "simgpu/nccl/times.h"

#include <cinttypes>
#include <cstdlib>

#include "common/base/clock.h"

namespace simgpu::nccl {

void Times::Begin(std::uint32_t number) {
  begun_[number % begun_.size()].store(crossover::base::MonotonicNs(), std::memory_order_relaxed);
}

void Times::End(const Task& task) {
  std::fprintf(file_,
               "{\"call\": \"%s\", \"type\": \"%s\", \"count\": %" PRIu64 ", \"begin_ns\": %" PRId64
               ", \"end_ns\": %" PRId64 "}\n",
               Name(task.ring->function), Name(task.ring->type), task.asked,
               begun_[task.number % begun_.size()].load(std::memory_order_relaxed),
               crossover::base::MonotonicNs());
}

std::unique_ptr<Times> TimesFile() {
  const char* path = std::getenv("SIMGPU_NCCL_TIMES");
  std::FILE* file = path == nullptr ? nullptr : std::fopen(path, "ae");
  return file == nullptr ? nullptr : std::make_unique<Times>(file);
}

}  // namespace simgpu::nccl

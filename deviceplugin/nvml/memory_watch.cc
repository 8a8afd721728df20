#include "deviceplugin/nvml/memory_watch.h"

#include <sys/prctl.h>

#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::seconds kPeriod{1};

}  // namespace

void LookAtMemory(const NvmlLibrary& nvml, Books* books) {
  std::map<std::string, std::map<pid_t, std::uint64_t>> by_gpu;
  for (const auto& member : books->Members()) {
    auto [gpu, fresh] = by_gpu.try_emplace(member->gpu->uuid);
    if (fresh) gpu->second = nvml.MemoryByProcess(gpu->first).value_or(std::map<pid_t, std::uint64_t>());
    if (member->pid == 0) continue;
    const auto bytes = gpu->second.find(static_cast<pid_t>(member->pid));
    if (bytes != gpu->second.end()) books->NoteMemory(*member, bytes->second);
  }
}

MemoryWatch::MemoryWatch(std::unique_ptr<NvmlLibrary> nvml, Books* books)
    : nvml_(std::move(nvml)), books_(books), thread_([this] { Run(); }) {}

MemoryWatch::~MemoryWatch() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void MemoryWatch::Run() {
  prctl(PR_SET_NAME, "xo-memory");
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kPeriod, [this] { return stop_; })) {
    lock.unlock();
    LookAtMemory(*nvml_, books_);
    lock.lock();
  }
}

}  // namespace crossover::deviceplugin

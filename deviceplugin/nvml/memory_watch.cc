#include "deviceplugin/nvml/memory_watch.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "common/logging/log.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::seconds kPeriod{1};

}  // namespace

void LookAtMemory(const NvmlLibrary& nvml, StatsStore* stats_store) {
  std::map<std::string, std::map<pid_t, std::uint64_t>> by_gpu;
  for (const auto& member : stats_store->Members()) {
    auto [gpu, fresh] = by_gpu.try_emplace(member->gpu->uuid);
    if (fresh) gpu->second = nvml.MemoryByProcess(gpu->first).value_or(std::map<pid_t, std::uint64_t>());
    stats_store->NoteRefusals(*member);
    if (member->pid == 0) continue;
    const auto bytes = gpu->second.find(static_cast<pid_t>(member->pid));
    if (bytes != gpu->second.end()) stats_store->NoteMemory(*member, bytes->second);
  }
}

MemoryWatch::MemoryWatch(std::string library, StatsStore* stats_store)
    : library_(std::move(library)), task_("xo-memory", kPeriod, [this, stats_store] { Look(stats_store); }) {}

void MemoryWatch::Look(StatsStore* stats_store) {
  std::string why;
  if (nvml_ == nullptr) nvml_ = NvmlLibrary::Load(library_, &why);
  if (nvml_ == nullptr && !std::exchange(complained_, true))
    logging::Info("peak memory of jobs and use of GPUs are unknown: " + why);
  std::map<std::string, NvmlLibrary::Usage> usages;
  if (nvml_ != nullptr) {
    complained_ = false;
    LookAtMemory(*nvml_, stats_store);
    usages = nvml_->Usages();
    // After a reload of the driver, the library must be loaded again.
    if (usages.empty() && std::exchange(answered_, false)) nvml_.reset();
    answered_ |= !usages.empty();
  }
  const std::lock_guard lock(mutex_);
  usages_ = std::move(usages);
}

std::map<std::string, NvmlLibrary::Usage> MemoryWatch::usages() const {
  const std::lock_guard lock(mutex_);
  return usages_;
}

}  // namespace crossover::deviceplugin

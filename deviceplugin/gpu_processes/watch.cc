#include "deviceplugin/gpu_processes/watch.h"

#include <utility>

#include "common/base/clock.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::milliseconds kPeriod{250};  // short, so that the first look is early
constexpr int kLookEvery = 8;                      // in rounds

}  // namespace

GpuProcessWatch::GpuProcessWatch(Sources sources)
    : sources_(std::move(sources)), task_("xo-occupants", kPeriod, [this] { Round(); }) {}

void GpuProcessWatch::Round() {
  if (since_look_++ % kLookEvery != 0) return;
  std::string why;
  if (nvml_ == nullptr) nvml_ = NvmlLibrary::Load(sources_.driver, &why);
  const std::vector<std::string> uuids = sources_.gpu_uuids();
  if (nvml_ == nullptr || uuids.empty()) return;
  const auto known = sources_.known();
  if (!known) {
    since_look_ = 0;
    return;
  }
  auto gpu_processes = FindGpuProcesses(*nvml_, uuids, sources_.cgroup_root, found_);
  // Without an answer the last result stands. After a reload of the driver the library must be loaded again.
  if (!gpu_processes) {
    nvml_.reset();
    return;
  }
  found_ = std::move(*gpu_processes);
  auto verdicts = judge_.Judge(found_, *known, base::MonotonicNs());
  for (GpuProcess& gpu_process : verdicts.unhooked)
    gpu_process.has_library = HasLibrary(gpu_process.pid, sources_.library);
  sources_.on_judged(verdicts);
  const std::lock_guard lock(mutex_);
  verdicts_ = std::move(verdicts);
}

ProcessClassifier::Verdicts GpuProcessWatch::verdicts() const {
  const std::lock_guard lock(mutex_);
  return verdicts_;
}

}  // namespace crossover::deviceplugin

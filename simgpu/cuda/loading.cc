#include "simgpu/cuda/loading.h"

#include <cstdio>
#include <cstdlib>

#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"
#include "simgpu/modules/module.h"

namespace simgpu {
namespace {

// Loads a kernel. A stream that is being captured has no work to wait for, and a program could not end the
// capture meanwhile.
void Load(const std::shared_ptr<Context>& context) {
  if (context == nullptr || AnyCapture()) return;
  WaitForAll(context);
  SleepUntil(MonotonicNow() + Machine::Get()->config().loading_us * kMicrosecond);
}

}  // namespace

const LoadingRule& ProcessLoading() {
  static const LoadingRule rule = [] {
    std::string complaint;
    const LoadingRule found =
        RuleOfLoading(Machine::Get()->config().lazy_loading, std::getenv("CUDA_MODULE_LOADING"), &complaint);
    if (!complaint.empty()) std::fprintf(stderr, "simgpu: %s\n", complaint.c_str());
    return found;
  }();
  return rule;
}

void LoadForLaunch(const Stream& stream, Kernel& kernel) {
  const LoadingRule& rule = ProcessLoading();
  if (rule.every == 0) return;
  const std::int64_t launch = kernel.launches++;
  const bool was_loaded = kernel.loaded.exchange(true);
  if (rule.Loads(launch) && !(launch == 0 && was_loaded)) Load(stream.context.lock());
}

void LoadNow(const std::shared_ptr<Context>& context, Kernel& kernel) {
  if (ProcessLoading().every > 0 && !kernel.loaded.exchange(true)) Load(context);
}

bool IsLoaded(const Kernel& kernel) { return ProcessLoading().every == 0 || kernel.loaded; }

}  // namespace simgpu

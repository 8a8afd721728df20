// Says what the machine knows of a kernel by its name: which rule says what it costs, and what effect it has.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "simgpu/cuda/module_image.h"
#include "simgpu/kernels/cost.h"
#include "simgpu/kernels/effect.h"

namespace simgpu {

// A KnownKernel holds this for one kernel. It is thread-safe.
class KnownKernel {
 public:
  // Returns what a launch of this shape costs, to which it adds the bytes of the effect. Looks the name up at
  // the first call. REQUIRES: the machine is attached. Each call gets the same `spec`.
  LaunchCost CostOf(const KernelSpec& spec, LaunchShape shape, const ParameterView& launch);

  // Has the effect of a launch, if CostOf() has found any. If that would touch memory which is not known,
  // leaves it out, and says so on stderr, once for each kernel.
  void Run(const KernelSpec& spec, const ParameterView& launch) const;

 private:
  std::once_flag learnt_;
  const KernelRule* rule_ = nullptr;  // in the machine's configuration
  std::optional<Effect> effect_;
  mutable std::atomic<bool> complained_ = false;
};

}  // namespace simgpu

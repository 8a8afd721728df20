// Makes fluids for tests, and kernels that run in them.
#pragma once

#include <memory>

#include "simgpu/model/fluid.h"

namespace simgpu {

constexpr Nanos kMs = 1'000'000;

// Returns a fluid on the heap, because it is large, and zeroed as in shared memory.
inline std::unique_ptr<Fluid> MakeFluid(const ShareRules& rules, Nanos now = 0) {
  auto fluid = std::make_unique<Fluid>();
  fluid->Reset(rules, now);
  return fluid;
}

inline std::unique_ptr<Fluid> MakeFluid(ShareMode mode, double capacity, Nanos quantum = 2 * kMs,
                                        Nanos now = 0) {
  return MakeFluid({.mode = mode, .capacity = capacity, .quantum = quantum}, now);
}

// Queues a kernel of `ns` at full speed that wants `sms`. Returns the mark at which it ends.
inline double Kernel(Fluid& fluid, int tenant, double ns, double sms = 132) {
  return fluid.Extend(tenant, sms, 1.0, ns);
}

}  // namespace simgpu

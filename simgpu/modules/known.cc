#include "simgpu/modules/known.h"

#include <cstdio>

#include "common/base/refusal.h"
#include "simgpu/cuda/memory.h"
#include "simgpu/kernels/pages.h"
#include "simgpu/machine/machine.h"

namespace simgpu {
namespace {

bool IsKnown(const void* begin, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const auto memory = FindAllocation(address);
  return memory && bytes <= memory->base + memory->bytes - address;
}

EffectMemory Memory() {
  return {IsKnown,
          [](void* begin, std::uint64_t bytes) { WriteZeros(begin, static_cast<std::size_t>(bytes)); },
          Machine::Get()->config().hollow_copies_from};
}

}  // namespace

LaunchCost KnownKernel::CostOf(const KernelSpec& spec, LaunchShape shape, const ParameterView& launch) {
  const MachineConfig& config = Machine::Get()->config();
  std::call_once(learnt_, [&] {
    rule_ = &RuleOf(config.kernel_costs, spec.name);
    if (config.kernel_effects) effect_ = EffectOf(spec.name, spec.argument_bytes);
  });
  if (effect_) shape.bytes = effect_->bytes(launch);
  return simgpu::CostOf(*rule_, config.kernel_costs.scale, shape);
}

void KnownKernel::Run(const KernelSpec& spec, const ParameterView& launch) const {
  if (!effect_) return;
  static const EffectMemory memory = Memory();
  if (effect_->run(launch, memory) || complained_.exchange(true)) return;
  std::fprintf(stderr, "simgpu: %s\n",
               crossover::base::Refusal("the effect of kernel '" + crossover::base::Shown(spec.name) + "'",
                                        "parameters that point to allocated memory", "others; it is left out")
                   .c_str());
}

}  // namespace simgpu

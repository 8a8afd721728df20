#include "simgpu/kernels/effect.h"

#include <string_view>

#include "simgpu/kernels/torch.h"

namespace simgpu {
namespace {

// A Known is a part of the names of kernels, and what makes the effect of one that has it.
struct Known {
  std::string_view part;
  std::optional<Effect> (*make)(std::string_view name, const std::vector<std::size_t>& parameter_bytes);
};

constexpr Known kKnown[] = {
    {"11FillFunctorI", torch::MakeFill},
    {"23direct_copy_kernel_cuda", torch::MakeCopy},
    {"27converting_copy_kernel_cudaI", torch::MakeConversion},
    {"CatArrayBatchedCopy", torch::MakeCat},
    {"47_amp_foreach_non_finite_check_and_unscale_cuda_", torch::MakeSearch},
    {"28amp_update_scale_cuda_kernelE", torch::MakeScale},
};

}  // namespace

std::optional<Effect> EffectOf(const std::string& name, const std::vector<std::size_t>& parameter_bytes) {
  for (const Known& known : kKnown) {
    if (name.find(known.part) != std::string::npos) return known.make(name, parameter_bytes);
  }
  return std::nullopt;
}

}  // namespace simgpu

#include <string_view>

#include "simgpu/cuda/loading.h"

namespace simgpu {

LoadingRule RuleOfLoading(const LoadingRule& machine, const char* text, std::string* complaint) {
  const std::string_view mode = text == nullptr ? "DEFAULT" : text;
  if (mode == "EAGER") return {};
  if (mode != "LAZY" && mode != "DEFAULT") {
    *complaint = "environment: CUDA_MODULE_LOADING=" + std::string(mode) +
                 ": expected EAGER, LAZY or DEFAULT; the variable is ignored";
  }
  return machine;
}

}  // namespace simgpu

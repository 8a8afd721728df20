// Checks the tables against the header that their types come from, and against the version script.
#include <gmock/gmock.h>

#include <fstream>
#include <set>
#include <string>
#include <type_traits>

#include "sidecar/hooks/cuda_hooks.h"
#include "sidecar/hooks/nccl_hooks.h"

namespace crossover::hooks {
namespace {

// These are cuda.h's own prototypes. In cuda.h each name is a macro for its newest version.
static_assert(std::is_same_v<decltype(&::cuLaunchKernel), CudaTraits<CudaHook::k_cuLaunchKernel>::Function>);
static_assert(
    std::is_same_v<decltype(&::cuLaunchKernelEx), CudaTraits<CudaHook::k_cuLaunchKernelEx>::Function>);
static_assert(
    std::is_same_v<decltype(&::cuStreamDestroy_v2), CudaTraits<CudaHook::k_cuStreamDestroy_v2>::Function>);
static_assert(
    std::is_same_v<decltype(&::cuGetProcAddress_v2), CudaTraits<CudaHook::k_cuGetProcAddress_v2>::Function>);
static_assert(std::is_same_v<decltype(&::cuStreamBeginCapture_v2),
                             CudaTraits<CudaHook::k_cuStreamBeginCapture_v2>::Function>);

static_assert(
    std::is_same_v<decltype(&::cuMemPoolCreate), CudaTraits<CudaHook::k_cuMemPoolCreate>::Function>);
static_assert(std::is_same_v<decltype(&::cuGreenCtxStreamCreate),
                             CudaTraits<CudaHook::k_cuGreenCtxStreamCreate>::Function>);
static_assert(std::is_same_v<decltype(&::cuCtxWaitEvent), CudaTraits<CudaHook::k_cuCtxWaitEvent>::Function>);
static_assert(
    std::is_same_v<decltype(&::cuGreenCtxWaitEvent), CudaTraits<CudaHook::k_cuGreenCtxWaitEvent>::Function>);

std::set<std::string> Rows() {
  return {
      "dlsym",
      "crossover_report_reductions",
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) #symbol,
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
#define NCCL_HOOK(symbol, type, policy) #symbol,
#include "sidecar/hooks/nccl_hooks.def"
#undef NCCL_HOOK
#define NVML_HOOK(symbol, memory) #symbol,
#include "sidecar/hooks/nvml_hooks.def"
#undef NVML_HOOK
  };
}

std::set<std::string> Exported() {
  std::ifstream script(CROSSOVER_VERSION_SCRIPT);
  std::set<std::string> names;
  for (std::string word; script >> word && word != "local:";) {
    if (word.size() > 1 && word.back() == ';') names.insert(word.substr(0, word.size() - 1));
  }
  return names;
}

TEST(TableTest, VersionScriptExportsEveryRowAndNothingElse) { EXPECT_EQ(Exported(), Rows()); }

TEST(TableTest, VersionScriptIsUnversioned) {
  std::ifstream script(CROSSOVER_VERSION_SCRIPT);
  std::string line;
  while (std::getline(script, line) && line.find('{') == std::string::npos) continue;
  EXPECT_EQ(line, "{") << "a dlsym in a named version node is never bound";
}

TEST(TableTest, PerThreadSymbolsHaveThePerThreadFlavour) {
#define CUDA_HOOK(symbol, name, version, flavour, type, policy)                                 \
  EXPECT_EQ(std::string(#symbol).ends_with("_ptsz") || std::string(#symbol).ends_with("_ptds"), \
            CudaTraits<CudaHook::k_##symbol>::kFlavour == session::Flavour::kPerThread)         \
      << #symbol;
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
}

}  // namespace
}  // namespace crossover::hooks

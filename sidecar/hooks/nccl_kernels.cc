#include "sidecar/hooks/nccl_kernels.h"

#include <string.h>

#include "common/base/hash.h"
#include "sidecar/hooks/bootstrap.h"
#include "sidecar/hooks/driver_function.h"
#include "sidecar/hooks/kernel_table.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/nccl_files.h"
#include "sidecar/session/session.h"

namespace crossover::hooks {
namespace {

// The driver tells names since CUDA 12.3.
constinit DriverFunction<PFN_cuFuncGetName_v12030> function_name("cuFuncGetName");
constinit DriverFunction<PFN_cuKernelGetName_v12030> kernel_name("cuKernelGetName");
constinit DriverFunction<PFN_cuCtxGetCurrent_v4000> current_context("cuCtxGetCurrent");

// Returns the name of a kernel, or null if the driver cannot tell. A launch takes a CUfunction or a CUkernel,
// so this tries both.
const char* NameOf(CUfunction function) {
  const char* name = nullptr;
  if (function_name.Get() != nullptr && function_name.Get()(&name, function) == CUDA_SUCCESS) return name;
  if (kernel_name.Get() != nullptr &&
      kernel_name.Get()(&name, reinterpret_cast<CUkernel>(function)) == CUDA_SUCCESS) {
    return name;
  }
  return nullptr;
}

constexpr bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

std::uint16_t NcclKernelNamed(const char* name) {
  constexpr char kNccl[] = "nccl", kKernel[] = "Kernel";
  if (name[0] == '_' && name[1] == 'Z') {
    for (name += 2; *name >= '0' && *name <= '9';) ++name;
  }
  if (strncmp(name, kNccl, sizeof kNccl - 1) != 0) return 0;
  const char* end = name;
  while (IsLetterOrDigit(*end)) ++end;
  const std::size_t length = static_cast<std::size_t>(end - name);
  constexpr std::size_t kLength = sizeof kKernel - 1;
  if (*end != '_' || length < kLength || strncmp(end - kLength, kKernel, kLength) != 0) return 0;
  std::uint64_t digest = base::Hash(name);
  digest ^= digest >> 32;
  const auto folded = static_cast<std::uint16_t>(digest ^ (digest >> 16));
  return folded == 0 ? 1 : folded;
}

bool LooksForKernels() {
  if (Active()) return true;
  session::TheSession().WatchKernels(false);
  return false;
}

std::uint16_t NcclKernelOf(CUfunction function) {
  std::uint16_t kernel = 0;
  if (known_kernels.Find(function, &kernel)) return kernel;
  if (!LooksForKernels()) return 0;
  const char* name = NameOf(function);
  if (name != nullptr) kernel = NcclKernelNamed(name);
  known_kernels.Remember(function, kernel);
  return kernel;
}

void OnKernelName(void* handle, const char* name, const void* caller) {
  const std::uint16_t kernel = NcclKernelNamed(name);
  if (kernel == 0 || !Active()) return;
  known_kernels.Remember(handle, kernel);
  if (LibraryOf(caller) != Library::kNccl && !InNcclFile(caller)) ExpectLinkedNccl();
}

// Forgets all kernels. But if the driver does not tell names, keeps NCCL's, which could not be learned again.
void ForgetKernels() {
  known_kernels.Forget(function_name.Get() != nullptr ? KernelTable::What::kAll : KernelTable::What::kPlain);
}

void BeforeNcclKernel(std::uint16_t kernel, unsigned blocks, phase::StreamKey stream) {
  CUcontext context = nullptr;
  if (!Active() || current_context.Get() == nullptr || current_context.Get()(&context) != CUDA_SUCCESS ||
      context == nullptr) {
    return;
  }
  if (!session::TheSession().Knows(context)) OnLinkedNccl(context);
  phase::Token token;
  token.function = kernel;
  token.count = blocks;
  session::TheSession().BeforeNcclKernel(context, token, stream);
}

}  // namespace crossover::hooks

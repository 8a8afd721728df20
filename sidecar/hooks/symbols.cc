#include "sidecar/hooks/symbols.h"

#include <dlfcn.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>

#include "common/base/optional_libc.h"
#include "sidecar/hooks/cuda_hooks.h"
#include "sidecar/hooks/nccl_hooks.h"
#include "sidecar/hooks/nvml_hooks.h"
#include "sidecar/log/log.h"
#include "sidecar/session/config.h"
#include "sidecar/session/session.h"

namespace crossover::hooks {
namespace {

using session::Flavour;

struct Row {
  const char* symbol;
  const char* name;
  int version;
  Flavour flavour;
};

constexpr Row kRows[] = {
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) \
  {#symbol, #name, version, Flavour::k##flavour},
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
};

void* WrapperOf(CudaHook hook) {
  switch (hook) {
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) \
  case CudaHook::k_##symbol:                                    \
    return reinterpret_cast<void*>(&CudaWrapper<CudaHook::k_##symbol>::Call);
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
    case CudaHook::kCount:
      break;
  }
  return nullptr;
}

// Holds the driver's own functions. RealOf() finds each when it is first asked for it.
constinit std::array<std::atomic<void*>, kCudaHooks> known_real{};

void* RealOf(std::size_t index, bool* lasts = nullptr) {
  void* real = known_real[index].load(std::memory_order_acquire);
  bool found_for_good = true;
  if (real == nullptr) {
    real = FindSymbol(Library::kCuda, kRows[index].symbol, &found_for_good);
    if (found_for_good) known_real[index].store(real, std::memory_order_release);
  }
  if (lasts != nullptr) *lasts = found_for_good;
  return real;
}

constinit std::array<std::atomic<bool>, kCudaHooks> told_of_newer{};  // by the first row of the name

// A process takes turns only if the wrappers see all calls of these names. Otherwise our operations would get
// into a graph, or would be queued in a context that has ended, or a launch of much work would run outside
// all turns.
constexpr const char* kNeeded[] = {"cuStreamBeginCapture", "cuStreamDestroy", "cuCtxDestroy",
                                   "cuDevicePrimaryCtxReset", "cuGraphLaunch"};

bool IsNeeded(const char* name) {
  constexpr std::size_t kBegins = 0;  // stands for all names that begin with it
  if (strncmp(name, kNeeded[kBegins], strlen(kNeeded[kBegins])) == 0) return true;
  return std::any_of(std::begin(kNeeded), std::end(kNeeded),
                     [name](const char* needed) { return strcmp(name, needed) == 0; });
}

// Returns whether `real` is a function that the driver exports, and sets `*symbol` to its exported name.
bool IsExported(void* real, const char** symbol) {
  Dl_info found{};
  if (!base::LoaderIsThere() || dladdr(real, &found) == 0 || found.dli_saddr != real) return false;
  *symbol = found.dli_sname;
  return *symbol != nullptr && LibraryOf(real) == Library::kCuda;
}

template <NcclHook kHook>
void* NcclWrapperIn(std::size_t file) {
  static_assert(kNcclFiles == 3);
  if (file == 0) return reinterpret_cast<void*>(&NcclWrapper<InFile(kHook, 0)>::Call);
  if (file == 1) return reinterpret_cast<void*>(&NcclWrapper<InFile(kHook, 1)>::Call);
  return reinterpret_cast<void*>(&NcclWrapper<InFile(kHook, 2)>::Call);
}

struct NcclRow {
  const char* symbol;
  void* (*wrapper)(std::size_t file);
};

constexpr NcclRow kNcclRows[] = {
#define NCCL_HOOK(symbol, type, policy) {#symbol, &NcclWrapperIn<NcclHook::k_##symbol>},
#include "sidecar/hooks/nccl_hooks.def"
#undef NCCL_HOOK
};

struct NvmlRow {
  const char* symbol;
  void* wrapper;
};

const NvmlRow kNvmlRows[] = {
#define NVML_HOOK(symbol, memory) \
  {#symbol, reinterpret_cast<void*>(&NvmlWrapper<NvmlHook::k_##symbol>::Call)},
#include "sidecar/hooks/nvml_hooks.def"
#undef NVML_HOOK
};

}  // namespace

void* FindRealCuda(CudaHook hook, bool* lasts) { return RealOf(static_cast<std::size_t>(hook), lasts); }

Symbol FindWrapper(const char* name) {
  for (std::size_t i = 0; i < kCudaHooks; ++i) {
    if (strcmp(kRows[i].symbol, name) == 0) return {Library::kCuda, WrapperOf(static_cast<CudaHook>(i))};
  }
  for (const NcclRow& row : kNcclRows) {
    if (strcmp(row.symbol, name) == 0) return {Library::kNccl, row.wrapper(0)};
  }
  for (const NvmlRow& row : kNvmlRows) {
    if (strcmp(row.symbol, name) == 0) return {Library::kNvml, row.wrapper};
  }
  return {};
}

void* FindNcclWrapper(const char* name, void* real) {
  const std::size_t file = NcclFileOf(real, kNcclFiles);
  if (file == kNcclFiles) return real;
  for (const NcclRow& row : kNcclRows) {
    if (strcmp(row.symbol, name) == 0) return row.wrapper(file);
  }
  return real;
}

void* MatchByVersion(const char* name, int version, std::uint64_t flags, bool (*exists)(std::size_t row)) {
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  std::size_t best = kCudaHooks;
  const auto better = [&best](std::size_t i) {
    if (best == kCudaHooks) return true;
    if (kRows[i].flavour != kRows[best].flavour) return kRows[i].flavour == Flavour::kPerThread;
    return kRows[i].version > kRows[best].version;
  };
  for (std::size_t i = 0; i < kCudaHooks; ++i) {
    const Row& row = kRows[i];
    if (strcmp(row.name, name) != 0 || row.version > version || !exists(i)) continue;
    if (row.flavour == Flavour::kPerThread && !per_thread) continue;
    if (better(i)) best = i;
  }
  return best == kCudaHooks ? nullptr : WrapperOf(static_cast<CudaHook>(best));
}

void* SubstituteForProcAddress(const char* name, void* real, int version, std::uint64_t flags) {
  std::size_t first = kCudaHooks;
  for (std::size_t i = 0; i < kCudaHooks; ++i) {
    if (strcmp(kRows[i].name, name) != 0) continue;
    if (first == kCudaHooks) first = i;
    if (RealOf(i) == real) return WrapperOf(static_cast<CudaHook>(i));
  }
  if (first == kCudaHooks) return real;
  if (MatchByVersion(name, version, flags, [](std::size_t) { return true; }) == nullptr) return real;
  void* wrapper =
      MatchByVersion(name, version, flags, [](std::size_t row) { return RealOf(row) != nullptr; });
  const char* symbol = nullptr;
  const bool exported = IsExported(real, &symbol);
  if (wrapper != nullptr && !exported) return wrapper;
  // The driver exports `real` under a name that no row has, or it has none of the rows that `version`
  // reaches. So the ABI of `real` is that of no row.
  if (!told_of_newer[first].exchange(true, std::memory_order_relaxed)) {
    log::Write(log::Level::kWarn,
               "%s of CUDA version %d is %s, which this library does not know; its calls pass unseen", name,
               version, exported ? symbol : "a function without a name");
    if (IsNeeded(name)) session::TheSession().ObserveOnly(base::WatchReason::kNewerDriver);
  }
  return real;
}

void* GetProcAddress::Substitute(const char* name, void* real, int version, cuuint64_t flags) {
  if (name == nullptr || !session::GetConfig().active) return real;
  return SubstituteForProcAddress(name, real, version, flags);
}

}  // namespace crossover::hooks

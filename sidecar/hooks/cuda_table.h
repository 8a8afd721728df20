// Defines the table of CUDA hooks as types: the traits and the real function of each row.
#pragma once

#include <cudaTypedefs.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sidecar/session/streams.h"

namespace crossover::hooks {

// This is the type of cuStreamBeginCapture in CUDA 10.0. cudaTypedefs.h defines it only for the driver's own
// sources.
using BeginCaptureWithoutMode = CUresult(CUDAAPI*)(CUstream);
// These types are younger than the oldest cudaTypedefs.h that we build with. The callback of a recapture and
// the parameters of a capture for graphics stay opaque.
using BeginRecaptureToGraph = CUresult(CUDAAPI*)(CUstream, CUstreamCaptureMode, CUgraph, void*, void*);
using BeginCaptureToCig = CUresult(CUDAAPI*)(CUstream, void*);
using EndCaptureToCig = CUresult(CUDAAPI*)(CUstream);

enum class CudaHook : std::size_t {
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) k_##symbol,
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
  kCount
};
inline constexpr std::size_t kCudaHooks = static_cast<std::size_t>(CudaHook::kCount);

template <CudaHook kHook>
struct CudaTraits;

#define CUDA_HOOK(symbol, name, version, flavour, type, policy)                \
  template <>                                                                  \
  struct CudaTraits<CudaHook::k_##symbol> {                                    \
    using Function = type;                                                     \
    static constexpr session::Flavour kFlavour = session::Flavour::k##flavour; \
    static constexpr const char* kSymbol = #symbol;                            \
  };
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK

// `real_cuda<kHook>` points to CudaFirstCall::Call() until the real function is known. Call() finds the
// real function, stores it there and calls it. It stores no function of a stub.
template <CudaHook kHook, typename Function = typename CudaTraits<kHook>::Function>
struct CudaFirstCall;

// Returns the driver's function of this row, or null if the process has not loaded the driver. Sets `*lasts`
// to false if the function is that of a stub: the driver may be loaded later, so the caller must not keep it.
void* FindRealCuda(CudaHook hook, bool* lasts = nullptr);

// Holds the real function of a row. A plain call through it is all that an idle hook costs.
template <CudaHook kHook>
inline constinit std::atomic<typename CudaTraits<kHook>::Function> real_cuda{&CudaFirstCall<kHook>::Call};

template <CudaHook kHook>
auto RealCuda() {
  return real_cuda<kHook>.load(std::memory_order_relaxed);
}

template <CudaHook kHook, typename... Arguments>
struct CudaFirstCall<kHook, CUresult(CUDAAPI*)(Arguments...)> {
  static CUresult CUDAAPI Call(Arguments... arguments) {
    bool lasts = true;
    const auto real = reinterpret_cast<typename CudaTraits<kHook>::Function>(FindRealCuda(kHook, &lasts));
    if (real == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (lasts) real_cuda<kHook>.store(real, std::memory_order_relaxed);
    return real(arguments...);
  }
};

}  // namespace crossover::hooks

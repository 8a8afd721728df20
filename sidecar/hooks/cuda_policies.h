// What the wrappers of driver functions do around the real call. Each policy's Run() has the arguments of the
// function that it stands in for; it calls the real one exactly once and returns its result.
#pragma once

#include <tuple>

#include "sidecar/hooks/cuda_table.h"
#include "sidecar/session/attention.h"
#include "sidecar/session/session.h"

namespace crossover::hooks {

inline bool Observing() {
  return __builtin_expect(session::watching.load(std::memory_order_relaxed), 0) && session::nccl_depth == 0;
}

inline phase::EventKey KeyOfEvent(CUevent event) { return reinterpret_cast<std::uintptr_t>(event); }

template <CudaHook kHook>
phase::StreamKey KeyOfStream(CUstream stream) {
  return session::KeyOf(stream, CudaTraits<kHook>::kFlavour);
}

// A launch of compute. `StreamOf::Get` finds its stream among the arguments. Has no Run(): CudaWrapper itself
// looks at `attention`, so that the fast path is a load, a branch and a jump with the arguments where they
// are.
template <typename StreamOf>
struct Launch {
  template <CudaHook kHook, typename... Arguments>
  [[gnu::noinline, gnu::cold]] static CUresult Slow(Arguments... arguments) {
    session::TheSession().BeforeLaunch(KeyOfStream<kHook>(StreamOf::Get(arguments...)));
    return RealCuda<kHook>()(arguments...);
  }
};

template <typename Policy>
inline constexpr bool kIsLaunch = false;
template <typename StreamOf>
inline constexpr bool kIsLaunch<Launch<StreamOf>> = true;

template <std::size_t kIndex>
struct StreamAt {
  template <typename... Arguments>
  static CUstream Get(Arguments... arguments) {
    return std::get<kIndex>(std::tuple<Arguments...>(arguments...));
  }
};

struct StreamInConfig {
  template <typename... Arguments>
  static CUstream Get(const CUlaunchConfig* config, Arguments...) {
    return config == nullptr ? nullptr : config->hStream;
  }
};

using LaunchOnArgument1 = Launch<StreamAt<1>>;
using LaunchOnArgument8 = Launch<StreamAt<8>>;
using LaunchOnConfig = Launch<StreamInConfig>;

struct StreamWaitEvent {
  template <CudaHook kHook>
  static CUresult Run(CUstream stream, CUevent event, unsigned int flags) {
    const CUresult result = RealCuda<kHook>()(stream, event, flags);
    if (Observing() && result == CUDA_SUCCESS) {
      session::TheSession().OnStreamWait(KeyOfStream<kHook>(stream), KeyOfEvent(event));
    }
    return result;
  }
};

struct EventRecord {
  template <CudaHook kHook, typename... Flags>
  static CUresult Run(CUevent event, CUstream stream, Flags... flags) {
    const CUresult result = RealCuda<kHook>()(event, stream, flags...);
    if (Observing() && result == CUDA_SUCCESS) {
      session::TheSession().OnRecord(KeyOfEvent(event), KeyOfStream<kHook>(stream));
    }
    return result;
  }
};

struct HostWaitEvent {
  template <CudaHook kHook>
  static CUresult Run(CUevent event) {
    const CUresult result = RealCuda<kHook>()(event);
    if (Observing() && result == CUDA_SUCCESS) session::TheSession().OnHostWaitEvent(KeyOfEvent(event));
    return result;
  }
};

struct HostWaitStream {
  template <CudaHook kHook>
  static CUresult Run(CUstream stream) {
    const CUresult result = RealCuda<kHook>()(stream);
    if (Observing() && result == CUDA_SUCCESS) {
      session::TheSession().OnHostWaitStream(KeyOfStream<kHook>(stream));
    }
    return result;
  }
};

struct HostWaitContext {
  template <CudaHook kHook, typename... Context>
  static CUresult Run(Context... context) {
    const CUresult result = RealCuda<kHook>()(context...);
    if (Observing() && result == CUDA_SUCCESS) session::TheSession().OnHostWaitContext();
    return result;
  }
};

struct StreamCreate {
  template <CudaHook kHook, typename... Options>
  static CUresult Run(CUstream* stream, Options... options) {
    const CUresult result = RealCuda<kHook>()(stream, options...);
    if (Observing() && result == CUDA_SUCCESS) session::TheSession().OnStreamCreate();
    return result;
  }
};

// Handles are forgotten before they can be given out again.
struct StreamDestroy {
  template <CudaHook kHook>
  static CUresult Run(CUstream stream) {
    if (Observing()) session::TheSession().OnStreamDestroy(KeyOfStream<kHook>(stream));
    return RealCuda<kHook>()(stream);
  }
};

struct EventDestroy {
  template <CudaHook kHook>
  static CUresult Run(CUevent event) {
    if (Observing()) session::TheSession().OnEventDestroy(KeyOfEvent(event));
    return RealCuda<kHook>()(event);
  }
};

// Captures are counted always: one may be going on when the first communicator is made.
struct BeginCapture {
  template <CudaHook kHook, typename... Arguments>
  static CUresult Run(Arguments... arguments) {
    session::TheSession().OnBeginCapture();
    const CUresult result = RealCuda<kHook>()(arguments...);
    if (result != CUDA_SUCCESS) session::TheSession().OnEndCapture();
    return result;
  }
};

// A capture that was invalidated or left open ends with an error, but it ends.
struct EndCapture {
  template <CudaHook kHook>
  static CUresult Run(CUstream stream, CUgraph* graph) {
    const CUresult result = RealCuda<kHook>()(stream, graph);
    if (result == CUDA_SUCCESS || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
        result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED) {
      session::TheSession().OnEndCapture();
    }
    return result;
  }
};

// The user asks the driver for an entry point: answered by the driver, then replaced where the table has it.
struct GetProcAddress {
  template <CudaHook kHook, typename... Status>
  static CUresult Run(const char* name, void** function, int version, cuuint64_t flags, Status... status) {
    const CUresult result = RealCuda<kHook>()(name, function, version, flags, status...);
    if (result == CUDA_SUCCESS && function != nullptr && *function != nullptr) {
      *function = Substitute(name, *function, version, flags);
    }
    return result;
  }

  static void* Substitute(const char* name, void* real, int version, cuuint64_t flags);
};

}  // namespace crossover::hooks

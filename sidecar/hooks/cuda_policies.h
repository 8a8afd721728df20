// Defines what the wrappers of driver functions do around the real call. Each policy's Run() has the
// arguments of the function that it stands in for. It calls the real function exactly once and returns its
// result.
#pragma once

#include <tuple>
#include <type_traits>

#include "common/base/mutex.h"
#include "sidecar/hooks/bootstrap.h"
#include "sidecar/hooks/captures.h"
#include "sidecar/hooks/cuda_table.h"
#include "sidecar/hooks/kernel_table.h"
#include "sidecar/hooks/nccl_kernels.h"
#include "sidecar/session/hook_flags.h"
#include "sidecar/session/launches_left.h"
#include "sidecar/session/session.h"

namespace crossover::hooks {

// Returns whether the hooks report this call of the driver: an arbiter has asked to watch, and the call does
// not come from within NCCL.
inline bool Observing() {
  return __builtin_expect(session::watching.load(std::memory_order_relaxed), 0) && session::nccl_depth == 0;
}

inline phase::EventKey KeyOfEvent(CUevent event) { return reinterpret_cast<std::uintptr_t>(event); }

template <CudaHook kHook>
phase::StreamKey KeyOfStream(CUstream stream) {
  return session::KeyOf(stream, CudaTraits<kHook>::kFlavour);
}

// A Launched describes a launch: a kernel on `blocks` blocks, or a graph, which has no function.
struct Launched {
  CUstream stream = nullptr;
  CUfunction function = nullptr;
  unsigned blocks = 0;
};

// Handles a launch of compute or of one of NCCL's kernels. `Form` reads the arguments. In place of Run(),
// CudaWrapper asks Passes(), which calls no function. So a launch that passes costs some loads and branches,
// and a jump with the arguments where they are.
template <typename Form>
struct Launch {
  // Returns whether the launch needs only the driver's call. `why` is the value of `hook_flags`. Counts the
  // launch if launches are counted. Returns false also if only Slow() can tell.
  template <typename... Arguments>
  [[gnu::always_inline]] static bool Passes(std::uint32_t why, Arguments... arguments) {
    constexpr std::uint32_t kQuick = session::kHookKernels | session::kHookCount;
    if ((why & ~kQuick) != 0) return false;
    if constexpr (Form::kHasFunction) {
      if ((why & session::kHookKernels) != 0 && !known_kernels.IsPlain(Form::FunctionOf(arguments...)))
        return false;
    }
    return (why & session::kHookCount) == 0 || session::nccl_depth > 0 || session::CountLaunch();
  }

  template <CudaHook kHook, typename... Arguments>
  // Does all that a launch may need, and makes the call.
  [[gnu::noinline, gnu::cold]] static CUresult Slow(Arguments... arguments) {
    const Launched launched = Form::Get(arguments...);
    if (session::nccl_depth > 0) return RealCuda<kHook>()(arguments...);
    const std::uint32_t why = session::hook_flags.load(std::memory_order_relaxed);
    const std::uint16_t kernel = (why & session::kHookKernels) != 0 ? NcclKernelIn(launched.function) : 0;
    if (kernel != 0) {
      BeforeNcclKernel(kernel, launched.blocks, KeyOfStream<kHook>(launched.stream));
    } else if ((why & ~(session::kHookKernels | session::kHookSilence)) != 0) {
      session::TheSession().BeforeLaunch(KeyOfStream<kHook>(launched.stream));
    } else if ((why & session::kHookSilence) != 0) {
      CountSilentLaunch();
    }
    return RealCuda<kHook>()(arguments...);
  }

  static std::uint16_t NcclKernelIn(CUfunction function) {
    if (function != nullptr) return NcclKernelOf(function);
    LooksForKernels();
    return 0;
  }
};

template <typename Policy>
inline constexpr bool kIsLaunch = false;
template <typename Form>
inline constexpr bool kIsLaunch<Launch<Form>> = true;

struct GraphForm {
  static constexpr bool kHasFunction = false;
  static Launched Get(CUgraphExec, CUstream stream) { return {stream, nullptr, 0}; }
};

struct ArgumentsForm {
  static constexpr bool kHasFunction = true;
  template <typename... Rest>
  static CUfunction FunctionOf(CUfunction function, Rest...) {
    return function;
  }
  template <typename... Rest>
  static Launched Get(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, CUstream stream, Rest...) {
    return {stream, function, blocks};
  }
};

struct ConfigForm {
  static constexpr bool kHasFunction = true;
  template <typename... Rest>
  static CUfunction FunctionOf(const CUlaunchConfig*, CUfunction function, Rest...) {
    return function;
  }
  template <typename... Rest>
  static Launched Get(const CUlaunchConfig* config, CUfunction function, Rest...) {
    if (config == nullptr) return {};
    return {config->hStream, function, config->gridDimX};
  }
};

using LaunchGraph = Launch<GraphForm>;
using LaunchKernel = Launch<ArgumentsForm>;
using LaunchWithConfig = Launch<ConfigForm>;

// Handles a look-up of a kernel by name. Run() is inlined into the wrapper, so that its return address is
// in the wrapper's caller.
struct NameKernel {
  template <CudaHook kHook, typename Handle, typename Container>
  [[gnu::always_inline]] static CUresult Run(Handle* handle, Container container, const char* name) {
    const CUresult result = RealCuda<kHook>()(handle, container, name);
    if (result == CUDA_SUCCESS && handle != nullptr && name != nullptr) {
      OnKernelName(*handle, name, __builtin_return_address(0));
    }
    return result;
  }
};

// Handles the unloading of a module or a library: the driver may give its handles out again for other
// kernels.
struct UnloadKernels {
  template <CudaHook kHook, typename Container>
  static CUresult Run(Container container) {
    ForgetKernels();
    return RealCuda<kHook>()(container);
  }
};

// Handles the end of `context`. Afterwards the library must not ask the driver about its streams. This tells
// the session even without an arbiter, because the library's event and memory are in one of the contexts.
inline void BeforeContextEnds(CUcontext context) {
  ForgetKernels();
  if (Active()) session::TheSession().OnContextEnds(context);
}

// Handles the end of the primary context of `device`.
inline void BeforeDeviceReset(CUdevice device) {
  ForgetKernels();
  if (!Active()) return;
  if (IsOwnDevice(device)) {
    session::TheSession().OnOwnContextEnds();
  } else {
    session::TheSession().OnContextMayEnd();
  }
}

// Learns which context is the primary one of a device.
struct RetainContext {
  template <CudaHook kHook>
  static CUresult Run(CUcontext* context, CUdevice device) {
    const CUresult result = RealCuda<kHook>()(context, device);
    if (result == CUDA_SUCCESS && context != nullptr) LearnPrimary(device, *context);
    return result;
  }
};

// Handles the release of a primary context, which may be its last use, and the end of a green context, whose
// streams end with it.
struct LetContextGo {
  template <CudaHook kHook, typename Handle>
  static CUresult Run(Handle handle) {
    ForgetKernels();
    if (Observing()) session::TheSession().OnContextMayEnd();
    const CUresult result = RealCuda<kHook>()(handle);
    if constexpr (std::is_same_v<Handle, CUdevice>) {
      if (result == CUDA_SUCCESS) EndCapturesIfGone(handle);
    }
    return result;
  }
};

struct StreamWaitEvent {
  template <CudaHook kHook>
  static CUresult Run(CUstream stream, CUevent event, unsigned int flags) {
    if (session::turns_end_at_waits.load(std::memory_order_relaxed) && Observing()) {
      session::TheSession().BeforeStreamWait(KeyOfStream<kHook>(stream), KeyOfEvent(event));
    }
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

// Handles calls that record all of a context, or make all of it wait. The library does not know which streams
// are in a context or a green context, so such a call counts as one about all streams.
struct ContextRecordEvent {
  template <CudaHook kHook, typename Context>
  static CUresult Run(Context context, CUevent event) {
    const CUresult result = RealCuda<kHook>()(context, event);
    if (Observing() && result == CUDA_SUCCESS) session::TheSession().OnRecordAll(KeyOfEvent(event));
    return result;
  }
};
struct ContextWaitEvent {
  template <CudaHook kHook, typename Context>
  static CUresult Run(Context context, CUevent event) {
    if (session::turns_end_at_waits.load(std::memory_order_relaxed) && Observing()) {
      session::TheSession().BeforeAllWait(KeyOfEvent(event));
    }
    const CUresult result = RealCuda<kHook>()(context, event);
    if (Observing() && result == CUDA_SUCCESS) session::TheSession().OnAllWait(KeyOfEvent(event));
    return result;
  }
};

// Tells the session that the host is about to wait, if that may end a turn.
inline void TellOfHostWait() {
  if (session::turns_end_at_waits.load(std::memory_order_relaxed) && Observing())
    session::TheSession().BeforeHostWait();
}

// Handles a call by which the host has waited for an event.
struct HostWaitEvent {
  template <CudaHook kHook>
  static CUresult Run(CUevent event) {
    TellOfHostWait();
    const CUresult result = RealCuda<kHook>()(event);
    if (Observing() && result == CUDA_SUCCESS) session::TheSession().OnHostWaitEvent(KeyOfEvent(event));
    return result;
  }
};

// Handles a call by which the host may see that an event is done.
struct HostSeesEvent {
  template <CudaHook kHook>
  static CUresult Run(CUevent event) {
    const CUresult result = RealCuda<kHook>()(event);
    if (Observing() && result == CUDA_SUCCESS) {
      session::TheSession().OnHostSawEvent(KeyOfEvent(event), session::calls_collectives);
    }
    return result;
  }
};

// Handles a call by which the host has waited for all work of a stream, or has seen that it is done. kTell is
// the function of the session that records it. kWaits says that the call waits.
template <void (session::Session::*kTell)(phase::StreamKey), bool kWaits>
struct HostAsksStream {
  template <CudaHook kHook>
  static CUresult Run(CUstream stream) {
    if constexpr (kWaits) TellOfHostWait();
    const CUresult result = RealCuda<kHook>()(stream);
    if (Observing() && result == CUDA_SUCCESS) (session::TheSession().*kTell)(KeyOfStream<kHook>(stream));
    return result;
  }
};
using HostWaitStream = HostAsksStream<&session::Session::OnHostWaitStream, true>;
using HostSeesStream = HostAsksStream<&session::Session::OnHostSawStream, false>;

struct HostWaitContext {
  template <CudaHook kHook, typename... Context>
  static CUresult Run(Context... context) {
    TellOfHostWait();
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

// Forgets the handle before the driver can give it out again.
struct StreamDestroy {
  template <CudaHook kHook>
  static CUresult Run(CUstream stream) {
    const base::Uncancelled uncancelled;
    const phase::StreamKey key = KeyOfStream<kHook>(stream);
    bool captured = false;
    if (Observing() || session::TheSession().AnyCapture()) {
      captured = session::TheSession().OnStreamDestroy(key);
    }
    const CUresult result = RealCuda<kHook>()(stream);
    if (!captured) return result;
    if (result != CUDA_SUCCESS) BeforeCapture(key);  // which goes on
    session::TheSession().OnCapturedStreamDestroyed();
    return result;
  }
};

struct EventDestroy {
  template <CudaHook kHook>
  static CUresult Run(CUevent event) {
    if (Observing()) session::TheSession().OnEventDestroy(KeyOfEvent(event));
    return RealCuda<kHook>()(event);
  }
};

// Records captures even without an arbiter: a capture may be going on when the first communicator is made.
// Each function of the driver that begins or ends a capture has a row with BeginCapture or EndCapture.
struct BeginCapture {
  template <CudaHook kHook, typename... Arguments>
  static CUresult Run(CUstream stream, Arguments... arguments) {
    const base::Uncancelled
        uncancelled;  // otherwise a cancelled thread could leave the capture in the set forever
    const phase::StreamKey key = KeyOfStream<kHook>(stream);
    const bool recorded = BeforeCapture(key);
    const CUresult result = RealCuda<kHook>()(stream, arguments...);
    if (result != CUDA_SUCCESS && recorded) session::TheSession().OnEndCapture(key);
    return result;
  }
};

struct EndCapture {
  template <CudaHook kHook, typename... Arguments>
  static CUresult Run(CUstream stream, Arguments... arguments) {
    const base::Uncancelled uncancelled;
    const CUresult result = RealCuda<kHook>()(stream, arguments...);
    AfterCaptureEnd(KeyOfStream<kHook>(stream), result);
    return result;
  }
};

// Handles a request for an entry point. Asks the driver, and replaces its answer by a wrapper if the table
// has one (SubstituteForProcAddress).
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

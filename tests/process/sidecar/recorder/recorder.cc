// A libcuda.so.1 that stands between all callers and the real one (CROSSOVER_TEST_CUDA). It writes each
// call, one line "<thread> <user|ours> <function> <handles and numbers>", to CROSSOVER_TEST_RECORD. A
// function that is not recorded is given out as the real one.
//
// A call is the library's own ("ours") if it comes from its helper thread, or uses an event that it
// created, or is of a function that it does not wrap and comes from its code.
#include <cudaTypedefs.h>
#include <dlfcn.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

// The table has exported symbols, so the macros that select their newest versions must go.
#undef cuCtxDestroy
#undef cuDevicePrimaryCtxRelease
#undef cuDevicePrimaryCtxReset
#undef cuStreamDestroy
#undef cuEventDestroy
#undef cuStreamBeginCapture
#undef cuGetProcAddress

// These types are those of sidecar/hooks/cuda_table.h, which cudaTypedefs.h lacks.
using BeginCaptureWithoutMode = CUresult(CUDAAPI*)(CUstream);
using BeginRecaptureToGraph = CUresult(CUDAAPI*)(CUstream, CUstreamCaptureMode, CUgraph, void*, void*);
using BeginCaptureToCig = CUresult(CUDAAPI*)(CUstream, void*);
using EndCaptureToCig = CUresult(CUDAAPI*)(CUstream);

void FillPassed(void* real);  // passed.cc

namespace {

struct Recorder {
  std::mutex mutex;
  std::FILE* file = nullptr;
  void* real = nullptr;
  std::map<const void*, const char*> event_owners;
  int threads = 0;
};

Recorder& The() {
  static Recorder* const recorder = [] {
    auto* made = new Recorder;
    const char* path = std::getenv("CROSSOVER_TEST_RECORD");
    const char* rank = std::getenv("RANK");
    if (rank == nullptr) rank = std::getenv("HOROVOD_RANK");
    if (path != nullptr) made->file = std::fopen((std::string(path) + (rank ? rank : "")).c_str(), "w");
    // RTLD_DEEPBIND makes the driver use its own functions first: what it calls inside itself is not a call
    // of the user.
    made->real = dlopen(std::getenv("CROSSOVER_TEST_CUDA"), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (made->real == nullptr || made->file == nullptr) std::abort();
    return made;
  }();
  return *recorder;
}

thread_local int thread_number = -1;
thread_local bool our_thread = false;

// Returns whose code an address lies in: "user", "ours" or "nccl".
const char* OwnerOf(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "user";
  if (std::strstr(info.dli_fname, "libcrossover") != nullptr) return "ours";
  return std::strstr(info.dli_fname, "libnccl") != nullptr ? "nccl" : "user";
}

// Returns what is written of an argument: handles and numbers, but no addresses of the caller's memory.
template <typename T>
std::string Text(T value) {
  char text[24] = "";
  constexpr auto kLeastAddress = CUdeviceptr{1} << 40;  // a device address has the type of a number
  if constexpr (std::is_same_v<T, CUdeviceptr>) {
    std::snprintf(text, sizeof text, value < kLeastAddress ? " %llu" : " h%llx", value);
  } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
    std::snprintf(text, sizeof text, " %lld", static_cast<long long>(value));
  } else if constexpr (std::is_same_v<T, CUstream> || std::is_same_v<T, CUevent> ||
                       std::is_same_v<T, CUfunction> || std::is_same_v<T, CUgraphExec>) {
    std::snprintf(text, sizeof text, " h%" PRIxPTR, reinterpret_cast<std::uintptr_t>(value));
  }
  return text;
}

// Returns who made the event among the arguments, or null if there is none.
template <typename... Arguments>
const char* EventOwner(const Recorder& recorder, Arguments... arguments) {
  const char* owner = nullptr;
  [[maybe_unused]] const auto look = [&](auto value) {
    if constexpr (std::is_same_v<decltype(value), CUevent>) {
      const auto found = recorder.event_owners.find(value);
      owner = found == recorder.event_owners.end() ? "user" : found->second;
    }
  };
  (look(arguments), ...);
  return owner;
}

// A wrapped function may be called by its wrapper, whichever code called that. Its direct caller then tells
// nothing.
template <typename... Arguments>
void Write(const char* name, bool hooked, const void* caller, Arguments... arguments) {
  Recorder& recorder = The();
  const std::lock_guard lock(recorder.mutex);
  if (thread_number < 0) thread_number = recorder.threads++;
  const char* owner = EventOwner(recorder, arguments...);
  if (owner == nullptr) owner = hooked ? "user" : OwnerOf(caller);
  if (std::strcmp(name, "cuThreadExchangeStreamCaptureMode") == 0 && std::strcmp(owner, "ours") == 0) {
    our_thread = true;
  }
  if (our_thread) owner = "ours";
  const std::string text = (std::string() + ... + Text(arguments));
  std::fprintf(recorder.file, "%d %s %s%s\n", thread_number, owner, name, text.c_str());
  std::fflush(recorder.file);
}

void NoteEvent(const void* caller, const CUevent* event, unsigned int) {
  Recorder& recorder = The();
  const std::lock_guard lock(recorder.mutex);
  recorder.event_owners[*event] = OwnerOf(caller);
}

// Records one function. `Tag` tells rows with equal types apart.
template <typename Tag, typename Function>
struct Recorded;

template <typename Tag, typename... Arguments>
struct Recorded<Tag, CUresult(CUDAAPI*)(Arguments...)> {
  [[gnu::noinline]] static CUresult CUDAAPI Call(Arguments... arguments) {
    const void* caller = __builtin_return_address(0);
    Write(Tag::kName, Tag::kHooked, caller, arguments...);
    static const auto real =
        reinterpret_cast<CUresult(CUDAAPI*)(Arguments...)>(dlsym(The().real, Tag::kName));
    const CUresult result = real(arguments...);
    if constexpr (Tag::kCreatesEvent) NoteEvent(caller, arguments...);
    return result;
  }
};

std::map<std::string, void*>& Table();

CUresult CUDAAPI GetProcAddress(const char* name, void** function, int version, cuuint64_t flags,
                                CUdriverProcAddressQueryResult* status) {
  static const auto real =
      reinterpret_cast<PFN_cuGetProcAddress_v12000>(dlsym(The().real, "cuGetProcAddress_v2"));
  const CUresult result = real(name, function, version, flags, status);
  if (result != CUDA_SUCCESS || *function == nullptr) return result;
  for (const auto& [symbol, recorded] : Table()) {
    if (dlsym(The().real, symbol.c_str()) == *function) *function = recorded;
  }
  return result;
}

#define TAG(symbol, hooked, creates)               \
  struct Tag_##symbol {                            \
    static constexpr const char* kName = #symbol;  \
    static constexpr bool kHooked = hooked;        \
    static constexpr bool kCreatesEvent = creates; \
  };
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) TAG(symbol, true, false)
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
#define RECORDED(symbol, type) TAG(symbol, false, std::string_view(#symbol) == "cuEventCreate")
#include "recorded.def"
#undef RECORDED

std::map<std::string, void*>& Table() {
  static std::map<std::string, void*> table = {
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) \
  {#symbol, reinterpret_cast<void*>(&Recorded<Tag_##symbol, type>::Call)},
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
#define RECORDED(symbol, type) {#symbol, reinterpret_cast<void*>(&Recorded<Tag_##symbol, type>::Call)},
#include "recorded.def"
#undef RECORDED
  };
  table["cuGetProcAddress_v2"] = reinterpret_cast<void*>(&GetProcAddress);
  return table;
}

}  // namespace

// The exported names jump to these addresses; the jumps are in recorder_entry.S.
extern "C" {
#define ENTRY(symbol)             \
  extern void* recorder_##symbol; \
  void* recorder_##symbol = nullptr;
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) ENTRY(symbol)
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
#define RECORDED(symbol, type) ENTRY(symbol)
#include "recorded.def"
#undef RECORDED
}

namespace {

[[gnu::constructor]] void Fill() {
  std::map<std::string, void*>& table = Table();
#define CUDA_HOOK(symbol, name, version, flavour, type, policy) recorder_##symbol = table[#symbol];
#include "sidecar/hooks/cuda_hooks.def"
#undef CUDA_HOOK
#define RECORDED(symbol, type) recorder_##symbol = table[#symbol];
#include "recorded.def"
#undef RECORDED
  FillPassed(The().real);
}

}  // namespace

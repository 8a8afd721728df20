#include "sidecar/hooks/memory_policies.h"

#include <time.h>

#include <atomic>

#include "common/base/clock.h"
#include "common/base/job_environment.h"
#include "common/base/mutex.h"
#include "sidecar/arbiter_client/connection.h"
#include "sidecar/hooks/bootstrap.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/nvml_hooks.h"
#include "sidecar/log/log.h"
#include "sidecar/memory/limit_question.h"
#include "sidecar/session/config.h"
#include "sidecar/session/session.h"

namespace crossover::hooks {
namespace {

using CtxGetDevice = CUresult(CUDAAPI*)(CUdevice*);
using CtxGetCurrent = CUresult(CUDAAPI*)(CUcontext*);

constinit std::atomic<CtxGetDevice> ctx_get_device{nullptr};
constinit std::atomic<CtxGetCurrent> ctx_get_current{nullptr};
constinit memory::LimitQuestion question;
constinit std::atomic<bool> told{false};

std::uint64_t BytesOf(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    default:
      return 4;
  }
}

std::uint64_t AtLeastOne(std::size_t extent) { return extent == 0 ? 1 : extent; }

// Returns the driver's function, or null if the driver lacks it. Looks it up until it has found it, and keeps
// it in `*kept`.
template <typename Function>
Function Found(std::atomic<Function>* kept, const char* symbol) {
  Function find = kept->load(std::memory_order_acquire);
  if (find == nullptr) {
    bool lasts = true;
    find = reinterpret_cast<Function>(FindSymbol(Library::kCuda, symbol, &lasts));
    if (lasts) kept->store(find, std::memory_order_release);
  }
  return find;
}

// Asks the daemon once. A daemon that is being replaced, or that does not know the pod yet, does not know the
// limit. The allocation then passes without a limit, and a later one asks again.
void Ask(const session::Config& config) {
  const auto limit = arbiter_client::AskForLimit(config.socket, memory::LimitQuestion::kAnswerTime);
  if (limit.known) {
    if (limit.bytes != 0) session::TheSession().LimitMemory(limit.bytes);
    question.Close();
  } else if (question.OnNoAnswer(base::MonotonicNs())) {
    log::Write(log::Level::kWarn,
               "%s is not in the environment of this process, and the daemon at %s does not say how much GPU "
               "memory its "
               "pod may use: no limit holds until the daemon says it",
               base::kGpuMemory.name, config.socket);
  }
}

// Sets the limit of the accounting, as far as it can be known now. The thread cannot be cancelled meanwhile:
// its socket would stay open.
void LearnLimit() {
  const base::Uncancelled uncancelled;
  const session::Config& config = session::GetConfig();
  if (!config.asks_for_limit) {
    memory::TheAccounting().LowerLimit(config.gpu_memory);
    return question.Close();
  }
  while (true) {
    switch (question.Look(base::MonotonicNs())) {
      case memory::LimitQuestion::Turn::kGo:
        return;
      case memory::LimitQuestion::Turn::kAsk:
        return Ask(config);
      case memory::LimitQuestion::Turn::kWait:
        const timespec pause{0, 1'000'000};
        ::nanosleep(&pause, nullptr);
    }
  }
}

}  // namespace

bool CountsMemory() {
  if (!Active()) return false;
  if (!question.closed()) LearnLimit();
  return true;
}

std::int32_t CurrentDevice() {
  const CtxGetDevice find = Found(&ctx_get_device, "cuCtxGetDevice");
  CUdevice device = -1;
  return find != nullptr && find(&device) == CUDA_SUCCESS ? device : -1;
}

std::uint64_t CurrentContext() {
  const CtxGetCurrent find = Found(&ctx_get_current, "cuCtxGetCurrent");
  CUcontext context = nullptr;
  return find != nullptr && find(&context) == CUDA_SUCCESS ? KeyOfContext(context) : 0;
}

void LearnPool(CUmemoryPool pool, const CUmemLocation& location) {
  if (location.type == CU_MEM_LOCATION_TYPE_NONE || !Active()) return;
  const bool on_gpu = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  memory::TheAccounting().KeepPool(KeyOfPool(pool), on_gpu ? location.id : memory::kOnHost);
}

void TellRefusal(std::size_t bytes) {
  if (told.exchange(true, std::memory_order_relaxed)) return;
  log::Write(log::Level::kWarn,
             "%zu bytes of GPU memory are refused: this process may have %llu bytes in all on each GPU "
             "(CROSSOVER_GPU_MEMORY, or what its pod may have)",
             bytes, static_cast<unsigned long long>(memory::TheAccounting().limit()));
}

std::uint64_t BytesOf(const CUDA_ARRAY_DESCRIPTOR& array) {
  return AtLeastOne(array.Width) * AtLeastOne(array.Height) * array.NumChannels * BytesOf(array.Format);
}

std::uint64_t BytesOf(const CUDA_ARRAY3D_DESCRIPTOR& array, unsigned levels) {
  if ((array.Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) != 0) return 0;
  const bool layered = (array.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) != 0;
  std::uint64_t texels = 0;
  for (unsigned level = 0; level < levels && level < 32; ++level) {
    const std::uint64_t depth = layered ? AtLeastOne(array.Depth) : AtLeastOne(array.Depth >> level);
    texels += AtLeastOne(array.Width >> level) * AtLeastOne(array.Height >> level) * depth;
  }
  return texels * array.NumChannels * BytesOf(array.Format);
}

std::uint64_t MemoryBudget() { return CountsMemory() ? memory::TheAccounting().limit() : 0; }

void ShowBudget(std::uint64_t budget, unsigned long long* total, unsigned long long* free_bytes,
                unsigned long long* used) {
  const std::uint64_t ours = memory::TheAccounting().used_everywhere();
  if (ours != 0) *used = ours;
  if (*total > budget) *total = budget;
  if (*used > *total) *used = *total;
  if (*free_bytes > *total - *used) *free_bytes = *total - *used;
}

}  // namespace crossover::hooks

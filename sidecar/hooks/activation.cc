#include "sidecar/hooks/activation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "common/base/job_environment.h"
#include "common/base/mutex.h"
#include "common/base/optional_libc.h"
#include "sidecar/gates/driver.h"
#include "sidecar/hooks/library.h"
#include "sidecar/link/helper.h"
#include "sidecar/log/log.h"
#include "sidecar/session/attention.h"
#include "sidecar/session/config.h"
#include "sidecar/session/session.h"

namespace crossover::hooks {
namespace {

constinit gates::Driver driver;
constinit link::Helper helper;
constinit base::Mutex mutex;
constinit bool started = false;              // with `mutex`
constinit std::atomic<CUdevice> device{-1};  // written with `mutex`
constinit std::atomic<bool> forked{false};

void FormatUuid(const CUuuid& uuid, char* text, std::size_t room) {
  unsigned char b[16];
  memcpy(b, uuid.bytes, sizeof b);
  snprintf(text, room, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
           b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

// The child of a fork has neither our threads nor a usable GPU: off for good.
void InChild() {
  forked.store(true, std::memory_order_relaxed);
  session::attention.store(0, std::memory_order_relaxed);
  session::watching.store(false, std::memory_order_relaxed);
  helper.CloseInChild();
}

// Whether kernels of several processes run on the GPU side by side, so that one job's collective and
// another's compute can (docs/design/0004-time-slices.md). Drivers before CUDA 12.4 do not say: there the
// control daemon's pipe tells, as it tells them.
bool RunsProcessesTogether(CUdevice gpu) {
  int enabled = 0;
  if (driver.DeviceGetAttribute != nullptr &&
      driver.DeviceGetAttribute(&enabled, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, gpu) == CUDA_SUCCESS)
    return enabled != 0;
  const char* directory = ::getenv("CUDA_MPS_PIPE_DIRECTORY");
  char control[4096];
  snprintf(control, sizeof control, "%s/control", directory != nullptr ? directory : "/tmp/nvidia-mps");
  return ::access(control, F_OK) == 0;
}

bool Start(CUcontext context, CUdevice gpu, int rank) {
  const session::Config& config = session::GetConfig();
  CUuuid uuid{};
  if (driver.DeviceGetUuid(&uuid, gpu) != CUDA_SUCCESS) return false;
  crossover_hello hello{};
  memcpy(hello.gang, config.gang, sizeof hello.gang);
  FormatUuid(uuid, hello.gpu_uuid, sizeof hello.gpu_uuid);
  hello.gang_size = config.gang_size;
  hello.priority = config.priority;
  hello.max_slowdown = config.max_slowdown;
  hello.rank = static_cast<std::uint32_t>(rank);
  hello.pid = static_cast<std::uint32_t>(::getpid());
  session::TheSession().SetUp(&driver, context, config.transport, RunsProcessesTogether(gpu));
  if (config.launch_blocking) session::TheSession().ObserveOnly(base::WatchReason::kLaunchBlocking);
  if (!base::AtFork(&InChild)) return false;
  helper.Start(&session::TheSession(), config.socket, hello);
  return true;
}

// Ways in which this process has been seen to use NCCL. Two libraries know nothing of each other, nor do
// their sequences of calls stand in an order that is the same on all ranks.
enum NcclKind : unsigned { kLoaded = 1, kLinked = 2, kLinkedPerhaps = 4 };
constinit std::atomic<unsigned> nccl_kinds{0};

void OnNccl(NcclKind kind) {
  const unsigned before = nccl_kinds.fetch_or(kind, std::memory_order_relaxed);
  const unsigned now = before | kind;
  if (now == before) return;
  if (kind != kLinkedPerhaps) session::TheSession().EndSilence();
  if ((now & kLinked) != 0 && (now & kLoaded) != 0) {
    session::TheSession().ObserveOnly(base::WatchReason::kTwoNccls);
  }
  session::TheSession().WatchKernels(now != kLoaded);
}

// As launchers of jobs tell it, for the arbiter's messages; 0 where none does.
int RankOfLauncher(std::uint32_t ranks) {
  for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
    const char* text = ::getenv(name);
    if (text == nullptr || *text < '0' || *text > '9') continue;
    char* end = nullptr;
    const unsigned long rank = ::strtoul(text, &end, 10);
    return *end == '\0' && (ranks == 0 ? rank <= base::kMostRanks : rank < ranks) ? static_cast<int>(rank)
                                                                                  : 0;
  }
  return 0;
}

// A communicator of at least two ranks on the thread's GPU, or much compute without any.
void Meet(int rank, int its_gpu = kCurrentGpu) {
  const base::Locked locked(mutex);
  if (!started &&
      !gates::LoadDriver(&driver, [](const char* name) { return FindSymbol(Library::kCuda, name); })) {
    started = true;
    log::Write(log::Level::kWarn, "takes no turns: the CUDA driver lacks functions that turns need");
    return;
  }
  if (started && device < 0) return;  // which is all there is to say
  CUcontext context = nullptr;
  CUdevice gpu = -1;
  if (driver.CtxGetCurrent == nullptr || driver.CtxGetCurrent(&context) != CUDA_SUCCESS ||
      context == nullptr || driver.CtxGetDevice(&gpu) != CUDA_SUCCESS) {
    return;
  }
  if (its_gpu != kCurrentGpu && its_gpu != gpu) {
    session::TheSession().ObserveOnly(base::WatchReason::kSeveralGpus);
  }
  if (started) {
    if (gpu != device) session::TheSession().ObserveOnly(base::WatchReason::kSeveralGpus);
    return;
  }
  started = true;
  device = gpu;
  if (!Start(context, gpu, rank)) log::Write(log::Level::kWarn, "takes no turns: set-up failed");
}

}  // namespace

bool Active() { return session::GetConfig().active && !forked.load(std::memory_order_relaxed); }

bool IsOwnDevice(CUdevice gpu) { return gpu == device; }

void OnCommunicator(const void* comm, int ranks, int rank, int gpu) {
  session::TheSession().OnCommunicator(comm, ranks);
  if (ranks < 2) return;
  OnNccl(kLoaded);
  Meet(rank, gpu);
}

void ExpectLinkedNccl() { OnNccl(kLinkedPerhaps); }

// Kernels are launched for communicators of several ranks alone; of how many is not known.
void OnLinkedNccl(CUcontext context) {
  log::Write(log::Level::kInfo, "NCCL is part of the program: collectives are known by their kernels");
  constexpr int kSeveral = 2;
  session::TheSession().OnCommunicator(context, kSeveral);
  OnNccl(kLinked);
  Meet(RankOfLauncher(session::GetConfig().gang_size));
}

// Ranks that talk in ways of their own, or a job of one.
void OnSilence() {
  session::TheSession().EndSilence();
  if (!Active()) return;
  session::TheSession().ExpectNoCollectives();
  Meet(RankOfLauncher(session::GetConfig().gang_size));
}

}  // namespace crossover::hooks

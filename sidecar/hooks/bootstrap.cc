#include "sidecar/hooks/bootstrap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <atomic>

#include "common/base/job_environment.h"
#include "common/base/mutex.h"
#include "common/base/optional_libc.h"
#include "sidecar/arbiter_client/arbiter_thread.h"
#include "sidecar/gates/driver.h"
#include "sidecar/hooks/library.h"
#include "sidecar/hooks/mps.h"
#include "sidecar/log/log.h"
#include "sidecar/session/config.h"
#include "sidecar/session/hook_flags.h"
#include "sidecar/session/session.h"

// atexit() calls __cxa_atexit(). All C libraries that load this library export __cxa_atexit(). None of them
// exports atexit() itself, which is linked statically.
extern "C" int __cxa_atexit(void (*handler)(void*), void* argument, void* object);

namespace crossover::hooks {
namespace {

constinit gates::Driver own_driver;
constinit arbiter_client::ArbiterThread arbiter_thread;
constinit base::Mutex mutex;
constinit bool started = false;                  // guarded by `mutex`
constinit std::atomic<CUdevice> own_device{-1};  // written under `mutex`; -1: none
constinit std::atomic<bool> forked{false};
constinit std::atomic<pid_t> own_process{0};  // process in which the arbiter thread runs

void FormatUuid(const CUuuid& uuid, char* text, std::size_t room) {
  unsigned char b[16];
  memcpy(b, uuid.bytes, sizeof b);
  snprintf(text, room, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
           b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

// Switches the library off for good in the child of a fork, which has neither our threads nor a usable GPU.
void InChild() {
  forked.store(true, std::memory_order_relaxed);
  session::hook_flags.store(0, std::memory_order_relaxed);
  session::watching.store(false, std::memory_order_relaxed);
  arbiter_thread.CloseInChild();
}

// Runs at the end of the process, before the exit handler of the driver, which was there before the arbiter
// thread started. A child of fork() or clone() has this handler too, but no threads of the library and not
// the page. Its process ID tells it from its parent, unless both are the first process of a PID namespace.
void AtEnd(void*) {
  const bool ours =
      !forked.load(std::memory_order_relaxed) && ::getpid() == own_process.load(std::memory_order_relaxed);
  if (ours) session::TheSession().OnExit();
}

bool Start(CUcontext context, CUdevice gpu, int rank) {
  const session::Config& config = session::GetConfig();
  CUuuid uuid{};
  if (own_driver.DeviceGetUuid(&uuid, gpu) != CUDA_SUCCESS) return false;
  crossover_hello hello{};
  memcpy(hello.gang, config.gang, sizeof hello.gang);
  FormatUuid(uuid, hello.gpu_uuid, sizeof hello.gpu_uuid);
  hello.gang_size = config.gang_size;
  hello.priority = config.priority;
  hello.max_slowdown = config.max_slowdown;
  hello.rank = static_cast<std::uint32_t>(rank);
  hello.pid = static_cast<std::uint32_t>(::getpid());
  session::TheSession().SetUp(&own_driver, context, config.transport, RunsProcessesTogether(own_driver, gpu),
                              config.signals);
  if (config.turns_at_waits) session::TheSession().AllowTurnsAtWaits();
  // Programs also set these variables after the library has read the environment, so it is read again.
  if (config.launch_blocking || base::IsOn(::getenv("CUDA_LAUNCH_BLOCKING")))
    session::TheSession().ObserveOnly(base::WatchReason::kLaunchBlocking);
  // With one channel, a release waits for all that was queued before it, also for a collective that would run
  // beside it. Two jobs could then wait for each other's collectives until the watchdog ends a turn.
  if (config.one_connection || base::IsOneConnection(::getenv("CUDA_DEVICE_MAX_CONNECTIONS")))
    session::TheSession().ObserveOnly(base::WatchReason::kOneConnection);
  own_process.store(::getpid(), std::memory_order_relaxed);
  if (!base::AtFork(&InChild) || __cxa_atexit(&AtEnd, nullptr, nullptr) != 0) return false;
  arbiter_thread.Start(&session::TheSession(), config.socket, hello);
  return true;
}

// An NcclKind is a way in which this process uses NCCL. With two copies of NCCL the order of their calls need
// not be the same on all ranks, so such a process takes no turns.
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

// Returns the rank for the arbiter's messages.
int RankOfLauncher() {
  return session::LauncherRank([](const char* name) -> const char* { return ::getenv(name); },
                               session::GetConfig().gang_size);
}

// Starts the session at the first call: the calling thread has a communicator of at least two ranks on its
// GPU, or has launched much without any. Later calls check that the process uses one GPU only.
void Register(int rank, int its_gpu = kCurrentGpu) {
  const base::Locked locked(mutex);
  if (!started &&
      !gates::LoadDriver(&own_driver, [](const char* name) { return FindSymbol(Library::kCuda, name); })) {
    started = true;
    log::Write(log::Level::kWarn,
               "this process takes no turns: the CUDA driver lacks functions that turns need; "
               "docs/support.md#drivers-and-cuda "
               "says which drivers have them");
    return;
  }
  if (started && own_device < 0) return;  // the log says so already
  CUcontext context = nullptr;
  CUdevice gpu = -1;
  if (own_driver.CtxGetCurrent == nullptr || own_driver.CtxGetCurrent(&context) != CUDA_SUCCESS ||
      context == nullptr || own_driver.CtxGetDevice(&gpu) != CUDA_SUCCESS) {
    return;
  }
  if (its_gpu != kCurrentGpu && its_gpu != gpu) {
    session::TheSession().ObserveOnly(base::WatchReason::kSeveralGpus);
  }
  if (started) {
    if (gpu != own_device) session::TheSession().ObserveOnly(base::WatchReason::kSeveralGpus);
    return;
  }
  started = true;
  own_device = gpu;
  if (!Start(context, gpu, rank))
    log::Write(log::Level::kWarn,
               "this process takes no turns: the driver does not tell the UUID of the GPU, or the C "
               "library takes no handler for fork() or exit()");
}

}  // namespace

bool Active() { return session::GetConfig().active && !forked.load(std::memory_order_relaxed); }

bool IsOwnDevice(CUdevice gpu) { return gpu == own_device; }

void OnCommunicator(const void* comm, int ranks, int rank, int gpu) {
  session::TheSession().OnCommunicator(comm, ranks, rank);
  if (ranks < 2) return;
  OnNccl(kLoaded);
  Register(rank, gpu);
}

void ExpectLinkedNccl() { OnNccl(kLinkedPerhaps); }

// NCCL launches kernels only for communicators of several ranks, so the session takes their number for two.
void OnLinkedNccl(CUcontext context) {
  log::Write(log::Level::kInfo,
             "NCCL is linked into the program: collectives are recognized by their kernels");
  constexpr int kSeveral = 2;
  session::TheSession().OnCommunicator(context, kSeveral);
  OnNccl(kLinked);
  Register(RankOfLauncher());
}

// Starts the session for a job whose ranks do not communicate by NCCL, or that has one rank.
void OnSilence() {
  session::TheSession().EndSilence();
  if (!Active()) return;
  session::TheSession().ExpectNoCollectives();
  Register(RankOfLauncher());
}

}  // namespace crossover::hooks

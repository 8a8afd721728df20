#include "benchmarks/gpu/programs/kernels.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "common/base/clock.h"

namespace crossover::bench {
namespace {

constexpr const char* kText =
    "// simgpu 1\n"
    "kernel work ns=arg sms=132 args=8,4\n"
    "kernel spin ns=0 sms=1 args=8,4 spin\n";

// work runs dependent multiply-adds in all threads. The trap is never taken. It keeps the compiler from
// removing the loop.
constexpr const char* kPtx = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry work(.param .u64 ns, .param .u32 loops) {
  .reg .pred %more, %nan;
  .reg .b32 %left;
  .reg .f32 %x, %a, %b;
  ld.param.u32 %left, [loops];
  mov.f32 %x, 0f3F800000;
  mov.f32 %a, 0f3F7FFF00;
  mov.f32 %b, 0f38D1B717;
LOOP:
  setp.eq.u32 %more, %left, 0;
  @%more bra DONE;
  fma.rn.f32 %x, %x, %a, %b;
  sub.u32 %left, %left, 1;
  bra LOOP;
DONE:
  setp.nan.f32 %nan, %x, %x;
  @%nan trap;
  ret;
}
.visible .entry stamp(.param .u64 where) {
  .reg .b64 %where, %now;
  ld.param.u64 %where, [where];
  cvta.to.global.u64 %where, %where;
  mov.u64 %now, %globaltimer;
  st.volatile.global.u64 [%where], %now;
  ret;
}
.visible .entry spin(.param .u64 word, .param .u32 value) {
  .reg .pred %waits;
  .reg .b32 %seen, %value, %ahead;
  .reg .b64 %word;
  ld.param.u64 %word, [word];
  ld.param.u32 %value, [value];
  cvta.to.global.u64 %word, %word;
LOOK:
  ld.volatile.global.u32 %seen, [%word];
  sub.s32 %ahead, %seen, %value;
  setp.lt.s32 %waits, %ahead, 0;
  @%waits bra LOOK;
  ret;
}
)";

constexpr unsigned kThreads = 512;
constexpr unsigned kBlocksPerSm = 2;

}  // namespace

RealGpu::RealGpu() {
  CUcontext context = nullptr;
  Check(Cuda().cuInit(0), "cuInit");
  Check(Cuda().cuDeviceGet(&device_, 0), "cuDeviceGet");
  Check(Cuda().cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
  Check(Cuda().cuCtxSetCurrent(context), "cuCtxSetCurrent");
  stream_ = NewStream();
  computes_ = Cuda().cuModuleLoadData(&module_, kText) != CUDA_SUCCESS;
  if (computes_) Check(Cuda().cuModuleLoadData(&module_, kPtx), "cuModuleLoadData");
  work_ = Kernel("work");
  if (computes_) stamp_ = Kernel("stamp");
  spin_ = Kernel("spin");
  int sms = 1;
  Check(Cuda().cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_), "SM count");
  blocks_ = computes_ ? static_cast<unsigned>(sms) * kBlocksPerSm : 1;
  const char* loops = std::getenv("GPU_LOOPS_PER_US");
  loops_per_ns_ = loops == nullptr ? 0 : std::atof(loops) / 1e3;
}

CUstream RealGpu::NewStream() const {
  CUstream stream = nullptr;
  Check(Cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream;
}

CUfunction RealGpu::Kernel(const char* name) const {
  CUfunction kernel = nullptr;
  Check(Cuda().cuModuleGetFunction(&kernel, module_, name), name);
  return kernel;
}

void RealGpu::Work(CUstream stream, std::uint64_t ns) const {
  if (computes_ && loops_per_ns_ <= 0) {
    std::fputs("GPU_LOOPS_PER_US: not set: want what 'gpu_probe info' says\n", stderr);
    std::exit(2);
  }
  auto loops = static_cast<std::uint32_t>(std::clamp(static_cast<double>(ns) * loops_per_ns_, 1.0, 4e9));
  void* parameters[] = {&ns, &loops};
  Check(Cuda().cuLaunchKernel(work_, blocks_, 1, 1, computes_ ? kThreads : 1, 1, 1, 0, stream, parameters,
                              nullptr),
        "launch of work");
}

void RealGpu::Loops(CUstream stream, std::uint32_t loops) const {
  std::uint64_t ns = 1;
  void* parameters[] = {&ns, &loops};
  Check(Cuda().cuLaunchKernel(work_, blocks_, 1, 1, kThreads, 1, 1, 0, stream, parameters, nullptr),
        "launch of work");
}

void RealGpu::Stamp(CUstream stream, CUdeviceptr where) const {
  // The software GPU may run a kernel's effect ahead of its time, but not a host function. Its device
  // addresses are the host's.
  const auto on_host = [](void* time) { *static_cast<std::int64_t*>(time) = base::MonotonicNs(); };
  if (!computes_)
    return Check(Cuda().cuLaunchHostFunc(stream, on_host, reinterpret_cast<void*>(where)),
                 "cuLaunchHostFunc");
  void* parameters[] = {&where};
  Check(Cuda().cuLaunchKernel(stamp_, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "launch of stamp");
}

void RealGpu::Spin(CUstream stream, CUdeviceptr word, std::uint32_t value) const {
  void* parameters[] = {&word, &value};
  Check(Cuda().cuLaunchKernel(spin_, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr), "launch of spin");
}

void RealGpu::Synchronize(CUstream stream) const {
  Check(Cuda().cuStreamSynchronize(stream), "cuStreamSynchronize");
}

pid_t ForkTied() {
  const pid_t pid = ::fork();
  if (pid == 0) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pid;
}

void SleepNs(std::int64_t ns) {
  const timespec pause{static_cast<time_t>(ns / base::kNsPerSecond),
                       static_cast<long>(ns % base::kNsPerSecond)};
  ::nanosleep(&pause, nullptr);
}

void* SharedMemory(std::size_t bytes) {
  const int fd = ::memfd_create("gpu-words", MFD_CLOEXEC);
  void* memory = MAP_FAILED;
  if (fd >= 0 && ::ftruncate(fd, static_cast<off_t>(bytes)) == 0)
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) return memory;
  std::perror("memfd");
  std::exit(1);
}

CUdeviceptr Register(void* memory, std::size_t bytes) {
  CUdeviceptr address = 0;
  Check(Cuda().cuMemHostRegister(memory, bytes, CU_MEMHOSTREGISTER_DEVICEMAP), "cuMemHostRegister");
  Check(Cuda().cuMemHostGetDevicePointer(&address, memory, 0), "cuMemHostGetDevicePointer");
  return address;
}

CUstreamBatchMemOpParams WaitOp(CUdeviceptr word, std::uint32_t value) {
  CUstreamBatchMemOpParams op{};
  op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  op.waitValue.address = word;
  op.waitValue.value = value;
  op.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  return op;
}

CUstreamBatchMemOpParams WriteOp(CUdeviceptr word, std::uint32_t value) {
  CUstreamBatchMemOpParams op{};
  op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.address = word;
  op.writeValue.value = value;
  return op;
}

void Enqueue(CUstream stream, CUstreamBatchMemOpParams* ops, unsigned count) {
  Check(Cuda().cuStreamBatchMemOp(stream, count, ops, 0), "cuStreamBatchMemOp");
}

}  // namespace crossover::bench

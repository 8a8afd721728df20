#include "benchmarks/gpu/programs/kernels.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "benchmarks/gpu/programs/image.h"
#include "common/base/clock.h"

namespace crossover::bench {
namespace {

constexpr const char* kText =
    "// simgpu 1\n"
    "kernel work ns=arg sms=132 args=8,4\n"
    "kernel spin ns=0 sms=1 args=8,4 spin\n"
    "kernel null ns=1000 sms=1\n";

constexpr unsigned kThreads = 512;
constexpr unsigned kBlocksPerSm = 2;

}  // namespace

RealGpu::RealGpu() {
  CUcontext context = nullptr;
  Check(Cuda().cuInit(0), "cuInit");
  Check(Cuda().cuDeviceGet(&device_, 0), "cuDeviceGet");
  Check(Cuda().cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
  Check(Cuda().cuCtxSetCurrent(context), "cuCtxSetCurrent");
  stream_ = ChosenStream();
  LoadKernels();
  int sms = 1;
  Check(Cuda().cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device_), "SM count");
  blocks_ = computes() ? static_cast<unsigned>(sms) * kBlocksPerSm : 1;
  const char* loops = std::getenv("GPU_LOOPS_PER_US");
  loops_per_ns_ = loops == nullptr ? 0 : std::atof(loops) / 1e3;
}

CUstream RealGpu::NewStream() const {
  CUstream stream = nullptr;
  Check(Cuda().cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream;
}

CUstream RealGpu::ChosenStream() const {
  const char* chosen = std::getenv("GPU_STREAM");
  if (chosen == nullptr) return NewStream();
  if (std::string_view(chosen) == "legacy") return CU_STREAM_LEGACY;
  std::fprintf(stderr, "GPU_STREAM: expected legacy, or no such variable; got '%s'\n", chosen);
  std::exit(2);
}

// A driver without its compiler for PTX loads the fatbin alone. A GPU that the fatbin was not made for needs
// the PTX.
void RealGpu::LoadKernels() {
  const auto load = [&](Image image, const char* name, const void* bytes) {
    if (image_ != Image::kNone) return;
    const CUresult result = Cuda().cuModuleLoadData(&module_, bytes);
    if (result == CUDA_SUCCESS) image_ = image;
    const char* error = nullptr;
    Cuda().cuGetErrorName(result, &error);
    refused_ += std::string(refused_.empty() ? "" : ", ") + name + ": " +
                (error == nullptr ? "error " + std::to_string(result) : error);
  };
  load(Image::kText, "text", kText);
  if (FatbinBytes() > 0) load(Image::kFatbin, "fatbin", kFatbin);
  load(Image::kPtx, "PTX", kPtx);
}

const void* RealGpu::LoadedImage() const {
  return image_ == Image::kText ? kText : image_ == Image::kFatbin ? kFatbin : kPtx;
}

std::string RealGpu::Kernels() const {
  switch (image_) {
    case Image::kText:
      return "text";
    case Image::kFatbin:
      return "fatbin";
    case Image::kPtx:
      return "ptx";
    case Image::kNone:
      break;
  }
  return "none: " + refused_ + (FatbinBytes() > 0 ? "" : ", no fatbin was built");
}

CUfunction RealGpu::Kernel(const char* name) const {
  if (image_ == Image::kNone) {
    std::fprintf(stderr, "the driver loads no kernels: %s\n", Kernels().c_str());
    std::exit(1);
  }
  CUfunction& kernel = functions_[name];
  if (kernel == nullptr) Check(Cuda().cuModuleGetFunction(&kernel, module_, name), name);
  return kernel;
}

void RealGpu::Work(CUstream stream, std::uint64_t ns) const {
  if (has_kernels() && computes() && loops_per_ns_ <= 0) {
    std::fputs("GPU_LOOPS_PER_US: expected what 'gpu_probe info' says, got nothing\n", stderr);
    std::exit(2);
  }
  auto loops = static_cast<std::uint32_t>(std::clamp(static_cast<double>(ns) * loops_per_ns_, 1.0, 4e9));
  void* parameters[] = {&ns, &loops};
  Check(Cuda().cuLaunchKernel(Kernel("work"), blocks_, 1, 1, computes() ? kThreads : 1, 1, 1, 0, stream,
                              parameters, nullptr),
        "launch of work");
}

void RealGpu::Loops(CUstream stream, std::uint32_t loops) const {
  std::uint64_t ns = 1;
  void* parameters[] = {&ns, &loops};
  Check(Cuda().cuLaunchKernel(Kernel("work"), blocks_, 1, 1, kThreads, 1, 1, 0, stream, parameters, nullptr),
        "launch of work");
}

void RealGpu::Stamp(CUstream stream, CUdeviceptr where) const {
  // The software GPU may run a kernel's effect ahead of its time, but not a host function. Its device
  // addresses are the host's.
  const auto on_host = [](void* time) { *static_cast<std::int64_t*>(time) = base::MonotonicNs(); };
  if (!computes())
    return Check(Cuda().cuLaunchHostFunc(stream, on_host, reinterpret_cast<void*>(where)),
                 "cuLaunchHostFunc");
  void* parameters[] = {&where};
  Check(Cuda().cuLaunchKernel(Kernel("stamp"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr),
        "launch of stamp");
}

void RealGpu::Spin(CUstream stream, CUdeviceptr word, std::uint32_t value) const {
  void* parameters[] = {&word, &value};
  Check(Cuda().cuLaunchKernel(Kernel("spin"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr),
        "launch of spin");
}

void RealGpu::Null(CUstream stream) const {
  Check(Cuda().cuLaunchKernel(Kernel("null"), 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr),
        "launch of null");
}

void RealGpu::Synchronize(CUstream stream) const {
  Check(Cuda().cuStreamSynchronize(stream), "cuStreamSynchronize");
}

pid_t ForkTied() {
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid != 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // the parent has ended before that line
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

void Enqueue(CUstream stream, CUstreamBatchMemOpParams* ops, unsigned count) {
  Check(Cuda().cuStreamBatchMemOp(stream, count, ops, 0), "cuStreamBatchMemOp");
}

}  // namespace crossover::bench

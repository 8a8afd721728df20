#include "examples/trainer/gpu.h"

#include <chrono>
#include <thread>
#include <utility>

#include "examples/trainer/failure.h"
#include "examples/trainer/image.h"

namespace crossover::trainer {
namespace {

constexpr unsigned kThreads = 1024;
constexpr unsigned kBlocksPerSm = 2;

CUdeviceptr DevicePointer(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

Driver LoadDriverOrFail(bool per_thread) {
  auto loaded = LoadDriver(per_thread);
  if (auto* error = std::get_if<DriverError>(&loaded)) throw Failure(error->text);
  return std::get<Driver>(loaded);
}

}  // namespace

Gpu::Gpu(std::uint32_t device, ComputeStream stream, KernelImage image, std::vector<std::uint32_t> kernel_sms)
    : driver_(LoadDriverOrFail(stream == ComputeStream::kPerThread)),
      per_thread_(stream == ComputeStream::kPerThread),
      kernel_sms_(std::move(kernel_sms)) {
  Check(driver_.cuInit(0), "cuInit");
  int count = 0;
  Check(driver_.cuDeviceGetCount(&count), "cuDeviceGetCount");
  if (device >= static_cast<std::uint32_t>(count)) {
    throw Failure("environment: LOCAL_RANK=" + std::to_string(device) + ": this node has " +
                      std::to_string(count) + " GPUs",
                  2);
  }
  Check(driver_.cuDeviceGet(&device_, static_cast<int>(device)), "cuDeviceGet");
  Check(driver_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain");
  Check(driver_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
  if (stream == ComputeStream::kOwn) {
    Check(driver_.cuStreamCreateWithPriority(&compute_, CU_STREAM_DEFAULT, 0), "cuStreamCreateWithPriority");
  }
  Check(driver_.cuStreamCreateWithPriority(&communication_, CU_STREAM_NON_BLOCKING, 0),
        "cuStreamCreateWithPriority");
  LoadKernels(image);
}

Gpu::~Gpu() {
  for (CUevent event : events_) driver_.cuEventDestroy(event);
  for (CUdeviceptr allocation : allocations_) driver_.cuMemFree(allocation);
  for (void* allocation : host_allocations_) driver_.cuMemFreeHost(allocation);
  for (CUstream stream : streams_) driver_.cuStreamDestroy(stream);
  if (module_) driver_.cuModuleUnload(module_);
  if (communication_) driver_.cuStreamDestroy(communication_);
  if (compute_) driver_.cuStreamDestroy(compute_);
  if (context_) driver_.cuDevicePrimaryCtxRelease(device_);
}

void Gpu::MakeCurrent() { Check(driver_.cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }

void Gpu::Check(CUresult result, const char* call) const {
  if (result == CUDA_SUCCESS) return;
  const char* name = nullptr;
  if (driver_.cuGetErrorName(result, &name) != CUDA_SUCCESS) name = nullptr;
  throw Failure(std::string(call) + ": " + (name ? name : "error " + std::to_string(result)));
}

bool Gpu::LoadImage(const void* image) {
  return image != nullptr && driver_.cuModuleLoadData(&module_, image) == CUDA_SUCCESS;
}

// The software GPU loads both images, but has the arithmetic of the text alone. A real driver refuses the
// text.
void Gpu::LoadKernels(KernelImage image) {
  if (image != KernelImage::kFatbin && LoadImage(TextImage().c_str())) {
    kernels_ = "timed stand-in around real arithmetic";
  } else if (image != KernelImage::kText && LoadImage(FatbinImage())) {
    kernels_ = "fatbin";
  } else {
    throw Failure(std::string("--kernels: expected an image that this driver loads, got none; this build ") +
                  (FatbinImage() ? "has a" : "has no") + " fatbin");
  }
  for (std::size_t i = 0; i < kKernelCount; ++i) {
    Check(driver_.cuModuleGetFunction(&functions_[i], module_, kKernelInfo[i].name), "cuModuleGetFunction");
  }
}

void* Gpu::Allocate(std::size_t bytes) {
  CUdeviceptr pointer = 0;
  Check(driver_.cuMemAlloc(&pointer, bytes), "cuMemAlloc");
  allocations_.push_back(pointer);
  void* const memory = reinterpret_cast<void*>(pointer);
  const std::vector<char> zeros(bytes);
  Upload(memory, zeros.data(), bytes);
  return memory;
}

void* Gpu::AllocateHost(std::size_t bytes) {
  void* memory = nullptr;
  Check(driver_.cuMemHostAlloc(&memory, bytes, 0), "cuMemHostAlloc");
  host_allocations_.push_back(memory);
  return memory;
}

void Gpu::Upload(void* device, const void* host, std::size_t bytes) {
  UploadAsync(device, host, bytes);
  Synchronize(compute_);
}

void Gpu::UploadAsync(void* device, const void* pinned, std::size_t bytes) {
  Check(driver_.cuMemcpyHtoDAsync(DevicePointer(device), pinned, bytes, compute_), "cuMemcpyHtoDAsync");
}

void Gpu::Download(void* host, const void* device, std::size_t bytes) {
  DownloadAsync(host, device, bytes);
  Synchronize(compute_);
}

void Gpu::DownloadAsync(void* pinned, const void* device, std::size_t bytes) {
  Check(driver_.cuMemcpyDtoHAsync(pinned, DevicePointer(device), bytes, compute_), "cuMemcpyDtoHAsync");
}

void Gpu::Launch(Kernel kernel, std::uint64_t duration_ns, const State* state, std::uint64_t iteration,
                 std::uint32_t a, std::uint32_t b) {
  const auto index = static_cast<std::size_t>(kernel);
  const std::uint32_t sms = SmsOf(index, kernel_sms_);
  const bool small = kKernelInfo[index].sms == 1;
  void* arguments[] = {&duration_ns, &state, &iteration, &a, &b};
  Check(driver_.cuLaunchKernel(functions_[index], small ? 1 : sms * kBlocksPerSm, 1, 1, small ? 32 : kThreads,
                               1, 1, 0, compute_, arguments, nullptr),
        "cuLaunchKernel");
}

void Gpu::BeginGraph() {
  Check(driver_.cuStreamBeginCapture(compute_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
}

void Gpu::LaunchGraph() {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  Check(driver_.cuStreamEndCapture(compute_, &graph), "cuStreamEndCapture");
  Check(driver_.cuGraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiateWithFlags");
  Check(driver_.cuGraphLaunch(exec, compute_), "cuGraphLaunch");
  Check(driver_.cuGraphExecDestroy(exec), "cuGraphExecDestroy");
  Check(driver_.cuGraphDestroy(graph), "cuGraphDestroy");
}

CUevent Gpu::MakeEvent(bool timing) {
  CUevent event = nullptr;
  Check(driver_.cuEventCreate(&event, timing ? CU_EVENT_BLOCKING_SYNC : CU_EVENT_DISABLE_TIMING),
        "cuEventCreate");
  events_.push_back(event);
  return event;
}

CUstream Gpu::MakeStream() {
  CUstream stream = nullptr;
  Check(driver_.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0), "cuStreamCreateWithPriority");
  streams_.push_back(stream);
  return stream;
}

void Gpu::Record(CUevent event, CUstream stream) {
  Check(driver_.cuEventRecord(event, stream), "cuEventRecord");
}

void Gpu::StreamWait(CUstream stream, CUevent event) {
  Check(driver_.cuStreamWaitEvent(stream, event, 0), "cuStreamWaitEvent");
}

void Gpu::HostWait(CUevent event) { Check(driver_.cuEventSynchronize(event), "cuEventSynchronize"); }

void Gpu::HostPoll(CUevent event) {
  for (;;) {
    const CUresult result = driver_.cuEventQuery(event);
    if (result != CUDA_ERROR_NOT_READY) return Check(result, "cuEventQuery");
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

double Gpu::ElapsedNs(CUevent from, CUevent to) {
  float milliseconds = 0;
  Check(driver_.cuEventElapsedTime(&milliseconds, from, to), "cuEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e6;
}

void Gpu::Synchronize(CUstream stream) { Check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize"); }

}  // namespace crossover::trainer

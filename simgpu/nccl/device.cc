#include "simgpu/nccl/device.h"

#include <dlfcn.h>

#include <bit>
#include <cstdio>
#include <cstring>

#include "simgpu/nccl/kernels.h"

using simgpu::nccl::KernelOwner;

// simgpu's driver calls this when a kernel gets its SMs.
extern "C" __attribute__((visibility("default"))) void simgpuNcclKernelBegin(void* const* args) {
  std::uint32_t number = 0;
  KernelOwner* owner = nullptr;
  std::memcpy(&number, args[1], sizeof number);
  std::memcpy(&owner, args[2], sizeof owner);
  owner->Begin(number);
}

namespace simgpu::nccl {

namespace {

// This many tasks may be under way before the host waits for all of them.
constexpr std::size_t kMostStagings = 512;
constexpr std::size_t kLeastStagingBytes = 4096;
constexpr unsigned kThreadsPerBlock = 512;

std::string UuidText(const CUuuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    text += digits;
    if (i == 3 || i == 5 || i == 7 || i == 9) text += '-';
  }
  return text;
}

// Makes this library's symbols global. The driver looks for kKernelBegin among the global symbols, but a
// library opened with RTLD_LOCAL has none there.
void MakeSymbolsGlobal() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&simgpuNcclKernelBegin), &info) == 0) return;
  dlopen(info.dli_fname, RTLD_NOLOAD | RTLD_GLOBAL | RTLD_NOW);
}

struct BeginCall {
  KernelOwner* owner;
  std::uint32_t number;
};

void CUDA_CB CallBegin(void* argument) {
  const std::unique_ptr<BeginCall> call(static_cast<BeginCall*>(argument));
  call->owner->Begin(call->number);
}

void CUDA_CB CallReplayed(void* argument) { static_cast<KernelOwner*>(argument)->Begin(1); }

}  // namespace

ScopedContext::ScopedContext(const Driver& driver, CUcontext context) : driver_(driver) {
  changed_ = driver_.cuCtxGetCurrent(&before_) == CUDA_SUCCESS && before_ != context;
  if (changed_) driver_.cuCtxSetCurrent(context);
}

ScopedContext::~ScopedContext() {
  if (changed_) driver_.cuCtxSetCurrent(before_);
}

std::unique_ptr<Device> Device::Open(const std::function<int(const std::string& uuid)>& sms_on,
                                     std::string* error) {
  std::unique_ptr<Device> device(new Device);
  device->driver_ = LoadDriver(error);
  if (device->driver_ == nullptr) return nullptr;
  if (!device->FindOut(error)) return nullptr;
  if (!device->LoadKernels(sms_on(device->uuid_), error) || !device->MakeDoneWord(error)) return nullptr;
  return device;
}

bool Device::FindOut(std::string* error) {
  CUresult result = driver_->cuCtxGetCurrent(&context_);
  CUdevice first = 0;
  if (result == CUDA_SUCCESS && context_ == nullptr) {
    result = driver_->cuDeviceGet(&first, 0);
    if (result == CUDA_SUCCESS) result = driver_->cuDevicePrimaryCtxRetain(&context_, first);
    if (result == CUDA_SUCCESS) result = driver_->cuCtxSetCurrent(context_);
  }
  CUdevice device = 0;
  CUuuid uuid{};
  if (result == CUDA_SUCCESS) result = driver_->cuCtxGetDevice(&device);
  if (result == CUDA_SUCCESS) result = driver_->cuDeviceGetUuid(&uuid, device);
  if (result != CUDA_SUCCESS) {
    context_ = nullptr;
    *error = DriverError(*driver_, "cannot use the current CUDA context", result);
    return false;
  }
  ordinal_ = device;
  uuid_ = UuidText(uuid);
  return true;
}

bool Device::LoadKernels(int sms, std::string* error) {
  sms_ = sms;
  MakeSymbolsGlobal();
  CUresult result = driver_->cuModuleLoadData(&module_, KernelImage(sms).c_str());
  kernel_calls_begin_ = result == CUDA_SUCCESS;
  if (!kernel_calls_begin_) result = driver_->cuModuleLoadData(&module_, KernelPtx().c_str());
  if (result == CUDA_SUCCESS) return true;
  module_ = nullptr;
  *error = DriverError(*driver_, "cannot load the kernels", result);
  return false;
}

bool Device::MakeDoneWord(std::string* error) {
  void* memory = nullptr;
  CUresult result =
      driver_->cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (result == CUDA_SUCCESS) {
    done_ = static_cast<std::uint32_t*>(memory);
    *done_ = 0;
    result = driver_->cuMemHostGetDevicePointer(&done_on_device_, memory, 0);
  }
  if (result == CUDA_SUCCESS) return true;
  *error = DriverError(*driver_, "cannot make pinned memory", result);
  return false;
}

Device::~Device() {
  if (context_ == nullptr) return;
  const ScopedContext scope(*driver_, context_);
  for (const auto* stagings : {&staging_, &kept_}) {
    for (const auto& staging : *stagings) {
      driver_->cuEventDestroy(staging->done);
      driver_->cuMemFreeHost(staging->host);
    }
  }
  if (done_ != nullptr) driver_->cuMemFreeHost(done_);
  if (module_ != nullptr) driver_->cuModuleUnload(module_);
}

Staging* Device::Acquire(std::size_t bytes, std::string* error) {
  Staging* best = nullptr;
  for (const auto& staging : staging_) {
    if (staging->used && driver_->cuEventQuery(staging->done) == CUDA_SUCCESS) staging->used = false;
    const bool fits = !staging->used && staging->bytes >= bytes;
    if (fits && (best == nullptr || staging->bytes < best->bytes)) best = staging.get();
  }
  if (best == nullptr && staging_.size() >= kMostStagings) {
    Synchronize();
    for (const auto& staging : staging_) {
      if (staging->bytes >= bytes) best = staging.get();
    }
  }
  if (best == nullptr) {
    auto made = MakeStaging(bytes, error);
    if (made == nullptr) return nullptr;
    best = staging_.emplace_back(std::move(made)).get();
  }
  best->used = true;
  return best;
}

Staging* Device::Keep(std::size_t bytes, std::string* error) {
  auto made = MakeStaging(bytes, error);
  return made == nullptr ? nullptr : kept_.emplace_back(std::move(made)).get();
}

std::unique_ptr<Staging> Device::MakeStaging(std::size_t bytes, std::string* error) {
  auto staging = std::make_unique<Staging>();
  staging->bytes = std::bit_ceil(std::max(bytes, kLeastStagingBytes));
  void* memory = nullptr;
  CUresult result =
      driver_->cuMemHostAlloc(&memory, staging->bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (result == CUDA_SUCCESS) {
    result = driver_->cuEventCreate(&staging->done, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS) driver_->cuMemFreeHost(memory);
  }
  if (result != CUDA_SUCCESS) {
    *error = DriverError(*driver_, "cannot make a staging buffer", result);
    return nullptr;
  }
  staging->host = static_cast<std::byte*>(memory);
  return staging;
}

CUresult Device::LaunchKernel(const Call& call, const KernelStart& start, CUstream stream) {
  CUfunction& function = functions_[KernelName(call)];
  if (function == nullptr) {
    const CUresult result = driver_->cuModuleGetFunction(&function, module_, KernelName(call).c_str());
    if (result != CUDA_SUCCESS) return result;
  }
  if (!kernel_calls_begin_ && start.replayed) {
    const CUresult result = driver_->cuLaunchHostFunc(stream, CallReplayed, start.owner);
    if (result != CUDA_SUCCESS) return result;
  } else if (!kernel_calls_begin_) {
    auto begin = std::make_unique<BeginCall>(BeginCall{start.owner, start.number});
    const CUresult result = driver_->cuLaunchHostFunc(stream, CallBegin, begin.get());
    if (result != CUDA_SUCCESS) return result;
    static_cast<void>(begin.release());  // CallBegin frees it
  }
  CUlaunchConfig shape{};
  shape.gridDimX = static_cast<unsigned>(sms_);
  shape.gridDimY = shape.gridDimZ = 1;
  shape.blockDimX = kThreadsPerBlock;
  shape.blockDimY = shape.blockDimZ = 1;
  shape.hStream = stream;
  KernelStart copy = start;
  void* parameters[] = {&copy.word, &copy.number, &copy.owner};
  return driver_->cuLaunchKernelEx(&shape, function, parameters, nullptr);
}

CUresult Device::Synchronize() {
  CUresult first = CUDA_SUCCESS;
  for (const auto& staging : staging_) {
    const CUresult result = staging->used ? driver_->cuEventSynchronize(staging->done) : CUDA_SUCCESS;
    if (first == CUDA_SUCCESS) first = result;
    staging->used = false;
  }
  return first;
}

}  // namespace simgpu::nccl

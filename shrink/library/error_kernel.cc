#include "shrink/library/error_kernel.h"

#include <sys/mman.h>

namespace crossover::shrink::library {
namespace {

using vote::MakeReason;
using vote::Reason;

constexpr std::size_t kBytes = kMostMeasured * sizeof(ErrorParts);
constexpr const char* kName = "crossover_shrink_error";

}  // namespace

void ErrorKernel::Make(const Driver* driver, const void* image, const Reason& reason) {
  const base::Locked locked(making_);
  if (state_.load(std::memory_order_acquire) != State::kUnmade) return;
  if (driver == nullptr) return Refuse(NoDriver());
  if (image == nullptr) return Refuse(reason);
  driver_ = driver;
  Reason refused = Load(image);
  if (refused.empty()) refused = ShareMemory();
  if (!refused.empty()) return Refuse(refused);
  state_.store(State::kReady, std::memory_order_release);
}

Reason ErrorKernel::Load(const void* image) {
  CUmodule module = nullptr;  // stays for as long as the context
  CUresult result = driver_->CtxGetDevice(&device_);
  if (result == CUDA_SUCCESS) result = driver_->ModuleLoadData(&module, image);
  if (result == CUDA_SUCCESS) {
    result = driver_->ModuleGetFunction(&function_, module, kName);
    if (result == CUDA_SUCCESS) return {};
    driver_->ModuleUnload(module);
  }
  return MakeReason("image: expected %s, which the driver loads, got error %d", kName,
                    static_cast<int>(result));
}

// The memory is shared with children, so that a fork does not separate what the host reads from what the GPU
// writes. It is the process's own: it can be read when the driver has gone.
Reason ErrorKernel::ShareMemory() {
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return MakeReason("mmap: expected %zu bytes, got none", kBytes);
  CUresult result =
      driver_->MemHostRegister(memory, kBytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
  if (result == CUDA_SUCCESS) {
    result = driver_->MemHostGetDevicePointer(&parts_on_device_, memory, 0);
    if (result == CUDA_SUCCESS) {
      parts_ = static_cast<ErrorParts*>(memory);
      return {};
    }
    driver_->MemHostUnregister(memory);
  }
  ::munmap(memory, kBytes);
  return MakeReason("memory of the host: expected the GPU to map it, got error %d", static_cast<int>(result));
}

// Another thread may find the same at the same time; the first one says why.
void ErrorKernel::Refuse(const Reason& reason) {
  State before = state_.load(std::memory_order_relaxed);
  if (before == State::kRefusing || before == State::kRefused) return;
  if (!state_.compare_exchange_strong(before, State::kRefusing, std::memory_order_acq_rel)) return;
  reason_ = reason;
  state_.store(State::kRefused, std::memory_order_release);
}

Reason ErrorKernel::why_not() const {
  return state_.load(std::memory_order_acquire) == State::kRefused ? reason_ : Reason{};
}

ErrorParts* ErrorKernel::TakeParts() {
  if (taken_.load(std::memory_order_relaxed) >= kMostMeasured) return nullptr;
  const std::size_t place = taken_.fetch_add(1, std::memory_order_relaxed);
  return place < kMostMeasured ? parts_ + place : nullptr;
}

bool ErrorKernel::Measure(const Sample& sample) {
  CUdevice device = -1;
  if (!is_ready() || driver_->CtxGetDevice(&device) != CUDA_SUCCESS || device != device_) {
    sample.account->Dropped();
    return false;
  }
  const auto place =
      reinterpret_cast<std::uintptr_t>(sample.account->parts()) - reinterpret_cast<std::uintptr_t>(parts_);
  CUdeviceptr values = sample.values, parts = parts_on_device_ + place;
  std::uint64_t count = sample.count, key = KeyOf(DrawOfSample(sample.mark)), mark = sample.mark;
  void* parameters[] = {&values, &parts, &count, &key, &mark};
  const CUresult result = driver_->LaunchKernel(function_, kErrorBlocks, 1, 1, kThreads, 1, 1, 0,
                                                sample.stream, parameters, nullptr);
  if (result == CUDA_SUCCESS) {
    sample.account->Launched();
    return true;
  }
  sample.account->Dropped();
  Refuse(MakeReason("launch: expected success, got error %d", static_cast<int>(result)));
  return false;
}

}  // namespace crossover::shrink::library

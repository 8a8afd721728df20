#include "sidecar/ipc/copies.h"

#include <time.h>

namespace crossover::ipc {

CUresult Copies::SetUp(const gates::Driver* driver, CUcontext context) {
  const base::Locked locked(mutex_);
  if (ended_.load()) return CUDA_ERROR_DEINITIALIZED;
  driver_ = driver;
  context_ = context;
  if (words_ == nullptr) {
    void* memory = nullptr;
    const CUresult error = driver->MemHostAlloc(&memory, (kMostWords + 1) * sizeof(std::uint32_t), 0);
    if (error != CUDA_SUCCESS) return error;
    words_ = static_cast<std::uint32_t*>(memory);
  }
  return stream_ != nullptr ? CUDA_SUCCESS : driver->StreamCreate(&stream_, CU_STREAM_NON_BLOCKING);
}

void Copies::Enter() {
  const base::Locked locked(mutex_);
  if (ended_.load()) return;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  driver_->ThreadExchangeStreamCaptureMode(&mode);
  driver_->CtxSetCurrent(context_);
}

bool Copies::Read(const CUdeviceptr* addresses, std::size_t count) {
  const base::Locked locked(mutex_);
  if (ended_.load()) return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (driver_->MemcpyDtoHAsync(&words_[i], addresses[i], sizeof words_[i], stream_) != CUDA_SUCCESS) {
      return false;
    }
  }
  return true;
}

bool Copies::Write(CUdeviceptr address, std::uint32_t value) {
  const base::Locked locked(mutex_);
  if (ended_.load()) return false;
  words_[kMostWords] = value;
  return driver_->MemcpyHtoDAsync(address, &words_[kMostWords], sizeof value, stream_) == CUDA_SUCCESS;
}

Copies::Progress Copies::Ask() {
  const base::Locked locked(mutex_);
  if (ended_.load()) return Progress::kFailed;
  const CUresult answer = driver_->StreamQuery(stream_);
  if (answer == CUDA_ERROR_NOT_READY) return Progress::kBusy;
  return answer == CUDA_SUCCESS ? Progress::kDone : Progress::kFailed;
}

void Copies::End() {
  constexpr int kTries = 100;
  ended_.store(true);
  for (int i = 0; i < kTries; ++i) {
    if (mutex_.TryLock()) return mutex_.Unlock();
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

}  // namespace crossover::ipc

#include "simgpu/replay/replays.h"

#include <atomic>
#include <cstdio>

#include "common/base/futex.h"
#include "simgpu/nccl/engine.h"

namespace simgpu::nccl {

namespace {

// Holds what outlives its communicator. Never freed.
struct Kept {
  std::vector<std::unique_ptr<Replay>> replays;
  std::unique_ptr<Device> device;
};

void KeepForGood(Kept kept) {
  static std::mutex mutex;
  static auto* all = new std::vector<Kept>;
  const std::lock_guard lock(mutex);
  all->push_back(std::move(kept));
}

// Returns the done word of a buffer. Host and device know it by one address, as they do all pinned memory.
std::uint32_t* WordOf(const Staging& staging) {
  return reinterpret_cast<std::uint32_t*>(staging.host + staging.bytes) - 1;
}

}  // namespace

void Replay::Begin(std::uint32_t) {
  const std::lock_guard lock(mutex_);
  crossover::base::StoreWord(done_, 0);
  if (engine_ != nullptr) return engine_->Replay(task_.get(), done_);
  static std::atomic<bool> said{false};
  if (!said.exchange(true)) {
    std::fprintf(stderr,
                 "simgpu nccl: a graph was launched after its communicator had gone: its collectives "
                 "move nothing\n");
  }
  LetKernelEnd(done_);
}

void Replay::Retire() {
  const std::lock_guard lock(mutex_);
  engine_ = nullptr;
}

CUresult Replays::Prepare(const Driver& driver, CUevent before) {
  if (order_ != nullptr) return CUDA_SUCCESS;
  CUevent order = nullptr;
  CUresult result = driver.cuEventCreate(&order, CU_EVENT_DISABLE_TIMING);
  if (result == CUDA_SUCCESS) result = driver.cuEventCreate(&tail_, CU_EVENT_DISABLE_TIMING);
  if (result == CUDA_SUCCESS) result = driver.cuEventCreate(&mark_, CU_EVENT_DISABLE_TIMING);
  CUstream aside = nullptr;
  if (result == CUDA_SUCCESS) result = driver.cuStreamCreate(&aside, CU_STREAM_NON_BLOCKING);
  if (result == CUDA_SUCCESS && before != nullptr) result = driver.cuStreamWaitEvent(aside, before, 0);
  if (result == CUDA_SUCCESS) result = driver.cuEventRecord(order, aside);
  if (aside != nullptr) driver.cuStreamDestroy(aside);
  if (result == CUDA_SUCCESS) order_ = order;
  return result;
}

Staging* Replays::Keep(Device& device, std::size_t bytes, std::string* error) {
  return device.Keep(bytes + sizeof(std::uint32_t), error);
}

KernelStart Replays::Add(std::unique_ptr<Task> task, Staging* staging, Engine* engine) {
  std::uint32_t* const word = WordOf(*staging);
  *word = 1;
  replays_.push_back(std::make_unique<Replay>(std::move(task), word, engine));
  return {replays_.back().get(), 1, reinterpret_cast<CUdeviceptr>(word), true};
}

void Replays::Retire(std::unique_ptr<Device>* device) {
  for (const auto& replay : replays_) replay->Retire();
  if (!replays_.empty()) KeepForGood({std::move(replays_), std::move(*device)});
}

}  // namespace simgpu::nccl

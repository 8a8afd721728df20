#include "shrink/library/buffer.h"

#include <algorithm>

namespace crossover::shrink::library {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::uint64_t kMostBlocks = 1024;

}  // namespace

bool Buffer::Make(const void* image, std::uint32_t mib, vote::Reason* reason) {
  program_ = DriverOf(Way::kAsTheProgram);
  past_ = DriverOf(Way::kPast);
  if (program_ == nullptr || past_ == nullptr) {
    *reason = vote::MakeReason("CUDA driver: expected one with all functions, got another or none");
    return false;
  }
  CUresult result = past_->ModuleLoadData(&kernels_.module, image);
  if (result == CUDA_SUCCESS)
    result = past_->ModuleGetFunction(&kernels_.narrow, kernels_.module, "crossover_shrink_narrow");
  if (result == CUDA_SUCCESS)
    result = past_->ModuleGetFunction(&kernels_.widen, kernels_.module, "crossover_shrink_widen");
  if (result != CUDA_SUCCESS) {
    *reason = vote::MakeReason("image: expected kernels that the driver loads, got error %d",
                               static_cast<int>(result));
    Free(true);
    return false;
  }
  result = program_->MemAlloc(&memory_, std::size_t{mib} << 20);
  if (result == CUDA_SUCCESS) result = past_->EventCreate(&done_, CU_EVENT_DISABLE_TIMING);
  if (result == CUDA_SUCCESS) return true;
  *reason =
      vote::MakeReason("budget: expected %u MiB of the GPU, got error %d", mib, static_cast<int>(result));
  Free(true);
  return false;
}

void Buffer::Free(bool may_wait) {
  if (used_ && past_->EventQuery(done_) != CUDA_SUCCESS) {
    if (!may_wait) return;
    past_->EventSynchronize(done_);
  }
  if (done_ != nullptr) past_->EventDestroy(done_);
  if (memory_ != 0) program_->MemFree(memory_);
  if (kernels_.module != nullptr) past_->ModuleUnload(kernels_.module);
  *this = Buffer();
}

CUresult Buffer::Follow(CUstream stream) {
  if (!used_ || stream == last_) return CUDA_SUCCESS;
  return past_->StreamWaitEvent(stream, done_, 0);
}

CUresult Buffer::Launch(const Driver& driver, CUfunction kernel, CUdeviceptr from, CUdeviceptr to,
                        const Step& step) {
  std::uint64_t count = step.count;
  void* parameters[] = {&from, &to, &count};
  const auto blocks = static_cast<unsigned>(std::min(kMostBlocks, (count + kThreads - 1) / kThreads));
  return driver.LaunchKernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, step.stream, parameters, nullptr);
}

CUresult Buffer::Narrow(const Step& step) {
  const CUresult result = Follow(step.stream);
  if (result != CUDA_SUCCESS) return result;
  return Launch(*program_, kernels_.narrow, step.send, At(step.offset), step);
}

CUresult Buffer::Widen(const Step& step) {
  CUresult result = Follow(step.stream);
  if (result == CUDA_SUCCESS) result = Launch(*past_, kernels_.widen, At(step.offset), step.receive, step);
  if (result == CUDA_SUCCESS) result = past_->EventRecord(done_, step.stream);
  used_ = true;
  last_ = step.stream;
  return result;
}

}  // namespace crossover::shrink::library

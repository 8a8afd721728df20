#include "shrink/library/buffer.h"

#include <algorithm>

#include "shrink/kernels/q8_threads.h"

namespace crossover::shrink::library {
namespace {

constexpr std::uint64_t kMostBlocks = 1024;
constexpr const char* kNames[kKernels] = {
    "crossover_shrink_narrow",      "crossover_shrink_widen",          "crossover_shrink_encode",
    "crossover_shrink_sum",         "crossover_shrink_decode",         "crossover_shrink_encode_planned",
    "crossover_shrink_sum_planned", "crossover_shrink_decode_planned", "crossover_shrink_statistics"};

}  // namespace

bool Buffer::Make(const void* image, std::uint32_t mib, vote::Reason* reason) {
  program_ = DriverOf(Way::kLine);
  past_ = DriverOf(Way::kPast);
  if (program_ == nullptr || past_ == nullptr) {
    *reason = NoDriver();
    return false;
  }
  CUresult result = past_->ModuleLoadData(&module_, image);
  for (std::size_t i = 0; i < kKernels && result == CUDA_SUCCESS; ++i)
    result = past_->ModuleGetFunction(&kernels_[i], module_, kNames[i]);
  if (result != CUDA_SUCCESS) {
    *reason = vote::As(
        vote::PlainReason::kKernels,
        vote::MakeReason("image: expected kernels that the driver loads, got error %d; update the driver, "
                         "or correct CROSSOVER_SHRINK_IMAGE",
                         static_cast<int>(result)));
    Free(true);
    return false;
  }
  result = program_->MemAlloc(&memory_, std::size_t{mib} << 20);
  if (result != CUDA_SUCCESS) {
    *reason =
        vote::As(vote::PlainReason::kBudget,
                 vote::MakeReason("budget: expected %u MiB of the GPU, got error %d; free memory, or lower "
                                  "CROSSOVER_SHRINK_BUDGET_MIB",
                                  mib, static_cast<int>(result)));
  } else {
    result = past_->EventCreate(&done_, CU_EVENT_DISABLE_TIMING);
    if (result == CUDA_SUCCESS) return true;
    *reason =
        vote::MakeReason("CUDA event: expected one, got error %d of cuEventCreate", static_cast<int>(result));
  }
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
  if (module_ != nullptr) past_->ModuleUnload(module_);
  *this = Buffer();
}

CUresult Buffer::Follow(CUstream stream) {
  if (!used_ || stream == last_) return CUDA_SUCCESS;
  return past_->StreamWaitEvent(stream, done_, 0);
}

CUresult Buffer::Launch(Kernel kernel, std::uint64_t blocks, void** parameters, CUstream stream) {
  const auto least = static_cast<unsigned>(std::min(kMostBlocks, blocks));
  return past_->LaunchKernel(kernels_[static_cast<std::size_t>(kernel)], least, 1, 1, kThreads, 1, 1, 0,
                             stream, parameters, nullptr);
}

CUresult Buffer::Convert(Kernel kernel, CUdeviceptr from, CUdeviceptr to, const Step& step) {
  std::uint64_t count = step.count;
  void* parameters[] = {&from, &to, &count};
  return Launch(kernel, (count + kThreads - 1) / kThreads, parameters, step.stream);
}

CUresult Buffer::Narrow(const Step& step) {
  const CUresult result = Follow(step.stream);
  if (result != CUDA_SUCCESS) return result;
  return Convert(Kernel::kNarrow, step.send, At(step.offset), step);
}

CUresult Buffer::Widen(const Step& step) {
  CUresult result = Follow(step.stream);
  if (result == CUDA_SUCCESS) result = Convert(Kernel::kWiden, At(step.offset), step.receive, step);
  return result == CUDA_SUCCESS ? Finish(step.stream) : result;
}

CUresult Buffer::Finish(CUstream stream) {
  used_ = true;
  last_ = stream;
  return past_->EventRecord(done_, stream);
}

}  // namespace crossover::shrink::library

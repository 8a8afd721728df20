// One GPU as the trainer uses it: context, streams, events, memory, kernels. Not thread-safe: one thread owns
// it. Every call throws Failure with the name of the CUDA error.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/trainer/driver.h"
#include "examples/trainer/model.h"
#include "examples/trainer/options.h"
#include "examples/trainer/program.h"

namespace crossover::trainer {

class Gpu {
 public:
  // `kernel_sms`: as SmsOf (program.h).
  Gpu(std::uint32_t device, ComputeStream stream, KernelImage image, std::vector<std::uint32_t> kernel_sms);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // The compute stream in calls of the driver, and as others (NCCL) name it.
  CUstream compute() const { return compute_; }
  CUstream compute_for_others() const { return per_thread_ ? CU_STREAM_PER_THREAD : compute_; }
  CUstream communication() const { return communication_; }
  // "fatbin", or what the text image stands for.
  const std::string& kernels() const { return kernels_; }

  // Owned by this object, zeroed.
  void* Allocate(std::size_t bytes);
  // Pinned host memory, owned by this object.
  void* AllocateHost(std::size_t bytes);
  void Upload(void* device, const void* host, std::size_t bytes);    // in stream order, host is read now
  void Download(void* host, const void* device, std::size_t bytes);  // waits for the compute stream
  void DownloadAsync(void* pinned, const void* device, std::size_t bytes);  // on the compute stream

  void Launch(Kernel kernel, std::uint64_t duration_ns, const State* state, std::uint64_t iteration,
              std::uint32_t a, std::uint32_t b);

  // The calling thread owns it from now on.
  void MakeCurrent();

  // What is launched on the compute stream in between is captured, then launched as one graph.
  void BeginGraph();
  void LaunchGraph();

  CUevent MakeEvent(bool timing);  // owned by this object
  void Record(CUevent event, CUstream stream);
  void StreamWait(CUstream stream, CUevent event);
  void HostWait(CUevent event);
  void HostPoll(CUevent event);  // as Horovod does
  double ElapsedNs(CUevent from, CUevent to);
  void Synchronize(CUstream stream);

 private:
  void Check(CUresult result, const char* call) const;
  void LoadKernels(KernelImage image);
  bool LoadImage(const void* image);

  Driver driver_;
  CUdevice device_ = 0;
  bool per_thread_;
  CUcontext context_ = nullptr;
  CUstream compute_ = nullptr;
  CUstream communication_ = nullptr;
  CUmodule module_ = nullptr;
  const std::vector<std::uint32_t> kernel_sms_;
  CUfunction functions_[kKernelCount] = {};
  std::string kernels_;
  std::vector<CUdeviceptr> allocations_;
  std::vector<void*> host_allocations_;
  std::vector<CUevent> events_;
};

}  // namespace crossover::trainer

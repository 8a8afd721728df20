// Wraps one GPU as the trainer uses it: context, streams, events, memory, kernels. Not thread-safe: one
// thread owns it. Every call throws Failure with the name of the CUDA error.
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
  // Opens a GPU of this node. `kernel_sms` is the `wished` of SmsOf() in program.h.
  Gpu(std::uint32_t device, ComputeStream stream, KernelImage image, std::vector<std::uint32_t> kernel_sms);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  // compute() is the compute stream for calls of the driver. compute_for_others() is the same stream as
  // other libraries (NCCL) name it.
  CUstream compute() const { return compute_; }
  CUstream compute_for_others() const { return per_thread_ ? CU_STREAM_PER_THREAD : compute_; }
  CUstream communication() const { return communication_; }
  // Returns "fatbin", or what the text image stands for.
  const std::string& kernels() const { return kernels_; }

  // Allocates zeroed device memory. This object owns it.
  void* Allocate(std::size_t bytes);
  // Allocates pinned host memory. This object owns it.
  void* AllocateHost(std::size_t bytes);
  // Copies in stream order and waits for the copy.
  void Upload(void* device, const void* host, std::size_t bytes);
  void Download(void* host, const void* device, std::size_t bytes);
  // These queue the copy on the compute stream and do not wait for it.
  void UploadAsync(void* device, const void* pinned, std::size_t bytes);
  void DownloadAsync(void* pinned, const void* device, std::size_t bytes);

  // Launches a kernel on the compute stream. `a` and `b` are as ops.h says for the kernel.
  void Launch(Kernel kernel, std::uint64_t duration_ns, const State* state, std::uint64_t iteration,
              std::uint32_t a, std::uint32_t b);

  // Makes the calling thread the owner of this object.
  void MakeCurrent();

  // BeginGraph() captures what is launched on the compute stream. LaunchGraph() ends the capture and
  // launches it as one graph.
  void BeginGraph();
  void LaunchGraph();

  CUevent MakeEvent(bool timing);  // owned by this object
  CUstream MakeStream();           // owned by this object; the default stream does not wait for it
  void Record(CUevent event, CUstream stream);
  void StreamWait(CUstream stream, CUevent event);
  void HostWait(CUevent event);
  void HostPoll(CUevent event);  // polls every 100 us, as Horovod does
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
  std::vector<CUstream> streams_;
};

}  // namespace crossover::trainer

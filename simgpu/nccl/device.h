// One communicator's use of its GPU: the kernels that hold SMs, the done word, and pinned staging buffers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simgpu/nccl/driver.h"
#include "simgpu/nccl/engine.h"

namespace simgpu::nccl {

// Pinned memory for one task. Free again once `done` has been reached.
struct Staging {
  std::byte* host = nullptr;
  std::size_t bytes = 0;
  CUevent done = nullptr;
  bool used = false;  // since its event was last seen reached
};

// Makes a context current and puts the caller's back.
class ScopedContext {
 public:
  ScopedContext(const Driver& driver, CUcontext context);
  ~ScopedContext();
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;

 private:
  const Driver& driver_;
  CUcontext before_ = nullptr;
  bool changed_ = false;
};

// Not thread-safe; calls need the context to be current (ScopedContext), the destructor makes it so itself.
class Device {
 public:
  // Of the calling thread's current context; as the CUDA runtime does, device 0's primary context is made
  // current where there is none. `sms_on` says how many SMs a kernel holds on the GPU of a uuid.
  static std::unique_ptr<Device> Open(const std::function<int(const std::string& uuid)>& sms_on,
                                      std::string* error);
  // Precondition: nothing on the GPU uses it any more.
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver() const { return *driver_; }
  CUcontext context() const { return context_; }
  int ordinal() const { return ordinal_; }
  const std::string& uuid() const { return uuid_; }
  int sms() const { return sms_; }
  std::uint32_t* done_word() const { return done_; }

  // nullptr, with *error, where memory is out.
  Staging* Acquire(std::size_t bytes, std::string* error);
  // The kernel of task `number` on `stream`: it tells the engine when it begins.
  CUresult LaunchKernel(const Call& call, Engine* engine, std::uint32_t number, CUstream stream);

  // Waits until the GPU is done with everything that was launched.
  void Synchronize();

 private:
  Device() = default;
  bool FindOut(std::string* error);
  bool LoadKernels(int sms, std::string* error);
  bool MakeDoneWord(std::string* error);
  Staging* AddStaging(std::size_t bytes, std::string* error);

  const Driver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  int ordinal_ = 0;
  std::string uuid_;
  int sms_ = 0;
  CUmodule module_ = nullptr;
  bool kernel_calls_begin_ = false;  // else a host function before it does
  std::map<std::string, CUfunction> functions_;
  std::uint32_t* done_ = nullptr;
  CUdeviceptr done_on_device_ = 0;
  std::vector<std::unique_ptr<Staging>> staging_;
};

}  // namespace simgpu::nccl

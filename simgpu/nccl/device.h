// Uses one GPU for one communicator: the kernels that hold SMs, the done word, and pinned staging buffers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simgpu/nccl/driver.h"
#include "simgpu/nccl/engine.h"

namespace simgpu::nccl {

// A Staging is pinned memory for one task. It is free again once `done` is reached.
struct Staging {
  std::byte* host = nullptr;
  std::size_t bytes = 0;
  CUevent done = nullptr;
  bool used = false;  // false once its event was seen reached
};

// A KernelStart says how a kernel begins and when it ends.
struct KernelStart {
  KernelOwner* owner = nullptr;  // is told when the kernel begins
  std::uint32_t number = 0;      // the kernel ends once the word is at or past this
  CUdeviceptr word = 0;
  bool replayed = false;  // part of a graph: the kernel may run many times
};

// A ScopedContext makes a context current and restores the caller's context at its end.
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

// A Device is a communicator's use of its GPU. Not thread-safe. Its calls need the context to be current
// (ScopedContext); the destructor makes it current itself.
class Device {
 public:
  // Opens the device of the calling thread's current context. If there is none, makes device 0's primary
  // context current, as the CUDA runtime does. `sms_on` returns how many SMs a kernel holds on the GPU with
  // a UUID. Returns nullptr, with the reason in *error, if something fails.
  static std::unique_ptr<Device> Open(const std::function<int(const std::string& uuid)>& sms_on,
                                      std::string* error);
  // REQUIRES: no work on the GPU uses the device any more.
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver() const { return *driver_; }
  CUcontext context() const { return context_; }
  int ordinal() const { return ordinal_; }
  const std::string& uuid() const { return uuid_; }
  int sms() const { return sms_; }
  std::uint32_t* done_word() const { return done_; }
  CUdeviceptr done_word_on_device() const { return done_on_device_; }

  // Returns a free staging buffer of at least `bytes`. Returns nullptr, with the reason in *error, if there
  // is no memory left. The Device owns it.
  Staging* Acquire(std::size_t bytes, std::string* error);
  // Returns a buffer that stays permanently, for a task of a graph. Otherwise like Acquire().
  Staging* Keep(std::size_t bytes, std::string* error);
  // Launches the kernel of `call` on `stream`.
  CUresult LaunchKernel(const Call& call, const KernelStart& start, CUstream stream);

  // Blocks until the GPU has done all that was launched, or cannot do it any more: returns the driver's error
  // then.
  CUresult Synchronize();

 private:
  Device() = default;
  bool FindOut(std::string* error);
  bool LoadKernels(int sms, std::string* error);
  bool MakeDoneWord(std::string* error);
  std::unique_ptr<Staging> MakeStaging(std::size_t bytes, std::string* error);

  const Driver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  int ordinal_ = 0;
  std::string uuid_;
  int sms_ = 0;
  CUmodule module_ = nullptr;
  bool kernel_calls_begin_ = false;  // else a host function before the kernel calls Begin()
  std::map<std::string, CUfunction> functions_;
  std::uint32_t* done_ = nullptr;
  CUdeviceptr done_on_device_ = 0;
  std::vector<std::unique_ptr<Staging>> staging_;
  std::vector<std::unique_ptr<Staging>> kept_;
};

}  // namespace simgpu::nccl

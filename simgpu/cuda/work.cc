#include "simgpu/cuda/work.h"

#include <cstring>

#include "simgpu/cuda/lane.h"
#include "simgpu/cuda/lost.h"
#include "simgpu/cuda/mps.h"
#include "simgpu/cuda/words.h"
#include "simgpu/machine/os.h"
#include "simgpu/modules/module.h"

namespace simgpu {
namespace {

class KernelWork final : public Work {
 public:
  KernelWork(std::shared_ptr<const Kernel> kernel, const KernelCost& cost, const ParameterView& launch)
      : kernel_(std::move(kernel)), cost_(cost), grid_{launch.grid[0], launch.grid[1], launch.grid[2]} {
    const std::vector<std::size_t>& sizes = kernel_->spec.argument_bytes;
    std::size_t bytes = 0;
    for (const std::size_t size : sizes) bytes += (size + 15) / 16 * 16;
    storage_.resize(bytes / 16 + 1);
    auto* next = reinterpret_cast<unsigned char*>(storage_.data());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      std::memcpy(next, launch.parameters[i], sizes[i]);
      arguments_.push_back(next);
      next += (sizes[i] + 15) / 16 * 16;
    }
  }

  void Run(Lane& lane) const override {
    const KernelSpec& spec = kernel_->spec;
    const double ns =
        cost_.scale * (spec.ns_is_argument ? static_cast<double>(Argument<std::uint64_t>(0)) : cost_.ns);
    if (!spec.spin) {
      lane.RunKernel(ns, cost_.sms);
      if (kernel_->function != nullptr) kernel_->function(arguments_.data());
      kernel_->known.Run(spec, {arguments_.data(), {grid_[0], grid_[1], grid_[2]}});
      return;
    }
    const auto word = Argument<CUdeviceptr>(0);
    const auto wanted = Argument<std::uint32_t>(1);
    lane.HoldUntil(cost_.sms, static_cast<Nanos>(ns), [&] {
      if (kernel_->function != nullptr) kernel_->function(arguments_.data());
      WaitWord({.address = word, .wanted = wanted});
    });
  }

 private:
  template <typename T>
  T Argument(std::size_t index) const {
    T value;
    std::memcpy(&value, arguments_[index], sizeof value);
    return value;
  }

  struct alignas(16) Block {
    unsigned char bytes[16];
  };
  const std::shared_ptr<const Kernel> kernel_;
  const KernelCost cost_;
  const unsigned grid_[3];
  std::vector<Block> storage_;
  std::vector<void*> arguments_;
};

class HostWork final : public Work {
 public:
  HostWork(std::function<void()> function, bool quiet) : function_(std::move(function)), quiet_(quiet) {}
  void Run(Lane& lane) const override {
    if (!quiet_) lane.Drain();
    function_();
  }

 private:
  const std::function<void()> function_;
  const bool quiet_;
};

class BreakWork final : public Work {
 public:
  void Run(Lane& lane) const override {
    lane.Drain();
    Lose(CUDA_ERROR_ILLEGAL_ADDRESS);
    ReportFaultToMps(lane.gpu());
  }
};

}  // namespace

void WakeWord(const void* address) { FutexWake(static_cast<const std::uint32_t*>(address)); }

WorkPtr MakeKernel(std::shared_ptr<const Kernel> kernel, const KernelCost& cost,
                   const ParameterView& launch) {
  return std::make_shared<KernelWork>(std::move(kernel), cost, launch);
}

WorkPtr MakeHostWork(std::function<void()> function) {
  return std::make_shared<HostWork>(std::move(function), false);
}

WorkPtr MakeQuietWork(std::function<void()> function) {
  return std::make_shared<HostWork>(std::move(function), true);
}

WorkPtr MakeBreak() { return std::make_shared<BreakWork>(); }

}  // namespace simgpu

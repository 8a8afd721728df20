#include "simgpu/copies/slice.h"

#include <utility>

#include "simgpu/cuda/lane.h"
#include "simgpu/cuda/mps.h"
#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"

namespace simgpu {
namespace {

class SliceWork final : public Work {
 public:
  explicit SliceWork(WorkPtr copy) : copy_(std::move(copy)) {}
  void Run(Lane& lane) const override {
    lane.Drain();
    Machine* machine = Machine::Get();
    if (machine->MpsHasKernels(lane.gpu()))
      SleepUntil(MonotonicNow() + machine->config().outside_copy_us * kMicrosecond);
    copy_->Run(lane);
  }

 private:
  const WorkPtr copy_;
};

}  // namespace

WorkPtr InASlice(WorkPtr copy) {
  const MachineConfig& config = Machine::Get()->config();
  const bool waits = config.outside_copy_us > 0 && config.mode == ShareMode::kShared && !IsMpsClient();
  return waits ? std::make_shared<SliceWork>(std::move(copy)) : copy;
}

}  // namespace simgpu

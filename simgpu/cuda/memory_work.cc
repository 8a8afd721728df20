// Implements memory operations as work of a stream: writes of words, waits for words, barriers.
#include <atomic>

#include "simgpu/cuda/faults.h"
#include "simgpu/cuda/lane.h"
#include "simgpu/cuda/lost.h"
#include "simgpu/cuda/memory.h"
#include "simgpu/cuda/words.h"
#include "simgpu/cuda/work.h"
#include "simgpu/machine/machine.h"
#include "simgpu/machine/os.h"

namespace simgpu {
namespace {

bool IsWide(CUstreamBatchMemOpType type) {
  return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

bool IsWait(CUstreamBatchMemOpType type) {
  return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

bool IsWrite(CUstreamBatchMemOpType type) {
  return type == CU_STREAM_MEM_OP_WRITE_VALUE_32 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

// Returns what the operation waits for. REQUIRES: the operation is a wait.
WordCondition ConditionOf(const CUstreamBatchMemOpParams& operation) {
  const bool wide = IsWide(operation.operation);
  const auto& wait = operation.waitValue;
  return {wait.address, wide ? wait.value64 : wait.value, wait.flags, wide};
}

// Returns where a word lies. What this library does not know is memory of the host.
WordPlace PlaceOf(CUdeviceptr address) {
  const auto memory = FindAllocation(address);
  const bool on_device =
      memory && (memory->kind == MemoryKind::kDevice || memory->kind == MemoryKind::kMapped);
  return on_device ? WordPlace::kDevice : WordPlace::kHost;
}

class MemoryWork final : public Work {
 public:
  MemoryWork(std::vector<CUstreamBatchMemOpParams> operations, std::vector<RecordPtr> channel)
      : operations_(std::move(operations)), channel_(std::move(channel)) {}

  std::optional<WordCondition> FirstWait() const override { return WaitAt(0); }

  void Run(Lane& lane) const override {
    lane.Drain();
    bool waited = false, wrote = false;
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      const CUstreamBatchMemOpParams& operation = operations_[i];
      if (Lost()) break;
      if (IsWait(operation.operation)) {
        // The wait may have read its word already.
        if (!lane.TakeEarlyPass()) waited |= Wait(lane, ConditionOf(operation));
      } else if (IsWrite(operation.operation)) {
        if (!wrote) waited |= WaitForChannel(lane);
        wrote = true;
        if (Faults().early_waits_us > 0) ReadAhead(lane, i + 1);
        Write(operation);
      } else {
        std::atomic_thread_fence(std::memory_order_seq_cst);
      }
    }
    lane.PassedIn(waited);
  }

 private:
  // Returns the condition of operation `i` if it is a wait.
  std::optional<WordCondition> WaitAt(std::size_t i) const {
    if (!IsWait(operations_[i].operation)) return std::nullopt;
    return ConditionOf(operations_[i]);
  }

  // Returns true if the stream had to wait.
  static bool Wait(Lane& lane, const WordCondition& condition) {
    const MachineConfig& config = Machine::Get()->config();
    const bool priced = config.blocked_wait_ns > 0 || config.blocked_device_wait_ns > 0;
    const bool blocked = priced && !Satisfied(condition);
    if (blocked) lane.SetBlocked(PlaceOf(condition.address));
    const bool waited = WaitWord(condition);
    if (blocked) lane.SetBlocked(WordPlace::kNone);
    return EndHandover(condition) || waited;
  }

  // Waits for all earlier work of the stream's hardware channel, if the machine says so. Returns true if it
  // had to wait.
  bool WaitForChannel(Lane& lane) const {
    bool waited = false;
    for (const RecordPtr& record : channel_) {
      waited |= !record->Reached();
      lane.WaitFor(record);
    }
    return waited;
  }

  // Implements the fault early_waits_us in front of a write. If operation `next`, or the next work if this
  // list ends, is a wait, it reads its word now, and the write comes so much later.
  void ReadAhead(Lane& lane, std::size_t next) const {
    const std::optional<WordCondition> wait = next < operations_.size() ? WaitAt(next) : lane.NextWait();
    if (!wait) return;
    if (Satisfied(*wait)) lane.PassEarly();
    SleepUntil(MonotonicNow() + Faults().early_waits_us * kMicrosecond);
  }

  static void Write(const CUstreamBatchMemOpParams& operation) {
    const bool wide = IsWide(operation.operation);
    const auto& write = operation.writeValue;
    const std::uint64_t value = wide ? write.value64 : write.value;
    if (Faults().delayed_writes_us > 0) {
      StoreWordLater(write.address, value, wide, Faults().delayed_writes_us);
    } else {
      StoreWord(write.address, value, wide);
    }
  }

  const std::vector<CUstreamBatchMemOpParams> operations_;
  const std::vector<RecordPtr> channel_;  // the ends of what the writes wait for
};

}  // namespace

WorkPtr MakeMemoryOperations(std::vector<CUstreamBatchMemOpParams> operations,
                             std::vector<RecordPtr> channel) {
  return std::make_shared<MemoryWork>(std::move(operations), std::move(channel));
}

}  // namespace simgpu

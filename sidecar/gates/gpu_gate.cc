#include "sidecar/gates/gpu_gate.h"

#include <cstddef>

#include "sidecar/gates/probe.h"

namespace crossover::gates {
namespace {

std::size_t OffsetOf(turn::Word word) {
  switch (word) {
    case turn::Word::kReady:
      return offsetof(crossover_slot, ready);
    case turn::Word::kHold:
      return offsetof(crossover_slot, hold);
    case turn::Word::kRel:
      return offsetof(crossover_slot, rel);
    case turn::Word::kGate:
      break;
  }
  return offsetof(crossover_slot, gate);
}

}  // namespace

bool GpuGate::SetUp(const Driver* driver, crossover_page* page, turn::SlotIndex self) {
  if (!HasMemoryOperations(*driver) || driver->MemHostRegister == nullptr ||
      driver->MemHostUnregister == nullptr) {
    return false;
  }
  driver_ = driver;
  self_ = self;
  if (driver->MemHostRegister(page, sizeof *page,
                              CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP) != CUDA_SUCCESS) {
    return false;
  }
  // The page's magic word has the awaited value already.
  if (driver->MemHostGetDevicePointer(&page_, page, 0) == CUDA_SUCCESS &&
      ProbeWait(*driver, page_ + offsetof(crossover_page, magic), CROSSOVER_TURNSTILE_MAGIC)) {
    return true;
  }
  driver->MemHostUnregister(page);
  return false;
}

bool GpuGate::Acquire(CUstream stream, turn::TurnNumber k) {
  return Enqueue(stream, turn::Acquire(self_, k));
}

bool GpuGate::Release(CUstream stream, turn::TurnNumber k, Handover handover) {
  return Enqueue(stream, turn::Release(self_, k, handover.successor, handover.open));
}

bool GpuGate::Yield(CUstream stream, turn::TurnNumber k) { return Enqueue(stream, turn::Yield(self_, k)); }

CUstreamBatchMemOpParams GpuGate::Translate(const turn::Op& op) const {
  const CUdeviceptr address =
      page_ + offsetof(crossover_page, slot) + op.slot * sizeof(crossover_slot) + OffsetOf(op.word);
  if (op.kind == turn::Op::Kind::kWaitGeq) return WaitParams(address, op.value);
  CUstreamBatchMemOpParams params{};
  params.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  params.writeValue.address = address;
  params.writeValue.value = op.value;
  params.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  return params;
}

template <std::size_t kCount>
bool GpuGate::Enqueue(CUstream stream, const std::array<turn::Op, kCount>& ops) const {
  std::array<CUstreamBatchMemOpParams, kCount> params;
  for (std::size_t i = 0; i < kCount; ++i) params[i] = Translate(ops[i]);
  return driver_->StreamBatchMemOp(stream, static_cast<unsigned int>(kCount), params.data(), 0) ==
         CUDA_SUCCESS;
}

}  // namespace crossover::gates

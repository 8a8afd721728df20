#include "sidecar/gates/gpu_gate.h"

#include <cstddef>

#include "common/base/futex.h"

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
  if (driver->StreamBatchMemOp == nullptr || driver->MemHostRegister == nullptr ||
      driver->MemHostUnregister == nullptr || driver->MemHostGetDevicePointer == nullptr ||
      driver->StreamCreate == nullptr || driver->StreamDestroy == nullptr ||
      driver->StreamSynchronize == nullptr) {
    return false;
  }
  driver_ = driver;
  self_ = self;
  if (driver->MemHostRegister(page, sizeof *page,
                              CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP) != CUDA_SUCCESS) {
    return false;
  }
  if (driver->MemHostGetDevicePointer(&page_, page, 0) == CUDA_SUCCESS && Probe()) return true;
  driver->MemHostUnregister(page);
  return false;
}

// What a driver says about memory operations and what it accepts differ between versions: one operation that
// changes nothing, on a stream of our own, is the truth. The page's magic word has the awaited value already.
bool GpuGate::Probe() const {
  CUstream stream = nullptr;
  if (driver_->StreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return false;
  CUstreamBatchMemOpParams params{};
  params.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  params.waitValue.address = page_ + offsetof(crossover_page, magic);
  params.waitValue.value = CROSSOVER_TURNSTILE_MAGIC;
  params.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  const bool works = driver_->StreamBatchMemOp(stream, 1, &params, 0) == CUDA_SUCCESS &&
                     driver_->StreamSynchronize(stream) == CUDA_SUCCESS;
  driver_->StreamDestroy(stream);
  return works;
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
  CUstreamBatchMemOpParams params{};
  if (op.kind == turn::Op::Kind::kWaitGeq) {
    params.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    params.waitValue.address = address;
    params.waitValue.value = op.value;
    params.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  } else {
    params.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    params.writeValue.address = address;
    params.writeValue.value = op.value;
    params.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  }
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

// In this fault a stream that waits for its signal does not ask its gate. It goes in by its signal alone.
#include <array>
#include <atomic>
#include <cstddef>

#include "sidecar/gates/driver.h"
#include "sidecar/gates/gpu_gate.h"

using crossover::gates::Driver;
using crossover::gates::GpuGate;

namespace {

decltype(Driver::StreamBatchMemOp) enqueue = nullptr;  // the driver's; set before the first turn
constexpr std::size_t kMost = 32;                      // operations of a call

// Queues the operations. Of two waits, which are those for a signal and for a gate, it leaves out the second.
CUresult EnqueueWithoutGate(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                            unsigned int flags) {
  std::array<CUstreamBatchMemOpParams, kMost> kept;
  if (count > kMost) return enqueue(stream, count, operations, flags);
  unsigned int waits = 0, left = 0;
  for (unsigned int i = 0; i < count; ++i) {
    waits += operations[i].operation == CU_STREAM_MEM_OP_WAIT_VALUE_32;
    const bool second = waits == 2 && operations[i].operation == CU_STREAM_MEM_OP_WAIT_VALUE_32;
    if (!second) kept[left++] = operations[i];
  }
  return enqueue(stream, left, kept.data(), flags);
}

}  // namespace

extern "C" {

bool __real__ZN9crossover5gates7GpuGate5SetUpEPKNS0_6DriverEP14crossover_pagejPKSt6atomicIbE(
    GpuGate* gate, const Driver* driver, crossover_page* page, crossover::turn::SlotIndex self,
    const std::atomic<bool>* ending);

bool __wrap__ZN9crossover5gates7GpuGate5SetUpEPKNS0_6DriverEP14crossover_pagejPKSt6atomicIbE(
    GpuGate* gate, const Driver* driver, crossover_page* page, crossover::turn::SlotIndex self,
    const std::atomic<bool>* ending) {
  static Driver changed;
  changed = *driver;
  enqueue = driver->StreamBatchMemOp;
  changed.StreamBatchMemOp = EnqueueWithoutGate;
  return __real__ZN9crossover5gates7GpuGate5SetUpEPKNS0_6DriverEP14crossover_pagejPKSt6atomicIbE(
      gate, &changed, page, self, ending);
}

}  // extern "C"

// The fault lets the driver seem to refuse memory barriers, so no list of a turn has one between its writes
// and its wait.
#include "sidecar/gates/probe.h"

using crossover::gates::Driver;

extern "C" {

bool __real__ZN9crossover5gates5ProbeERKNS0_6DriverEP30CUstreamBatchMemOpParams_unionj(
    const Driver& driver, CUstreamBatchMemOpParams* operations, unsigned int count);

bool __wrap__ZN9crossover5gates5ProbeERKNS0_6DriverEP30CUstreamBatchMemOpParams_unionj(
    const Driver& driver, CUstreamBatchMemOpParams* operations, unsigned int count) {
  for (unsigned int i = 0; i < count; ++i) {
    if (operations[i].operation == CU_STREAM_MEM_OP_BARRIER) return false;
  }
  return __real__ZN9crossover5gates5ProbeERKNS0_6DriverEP30CUstreamBatchMemOpParams_unionj(driver, operations,
                                                                                           count);
}

}  // extern "C"

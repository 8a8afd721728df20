// Injects faults. SIMGPU_FAULT is a comma-separated list of these:
//   memops_unsupported       stream memory operations return CUDA_ERROR_NOT_SUPPORTED; their attributes are 0
//   memops_fail:N            the process's N-th call of memory operations (from 0) and all after it return
//                            CUDA_ERROR_NOT_SUPPORTED; the calls before are carried out
//   memops_break:N           the process's N-th call of memory operations (from 0) is queued; when the GPU
//                            comes to it, the process loses its contexts (CUDA_ERROR_ILLEGAL_ADDRESS)
//   host_register_fails      cuMemHostRegister returns CUDA_ERROR_NOT_SUPPORTED
//   import_fails[:N]         the process's N-th call of cuMemImportFromShareableHandle (from 0, the default)
//                            and all after it return CUDA_ERROR_NOT_SUPPORTED
//   no_memory                calls that allocate memory of a GPU return CUDA_ERROR_OUT_OF_MEMORY
//   copies_break:N           the process loses its contexts at its N-th copy that the host waits for (from 0)
//   delayed_writes_us:N      a stream's write of a word becomes visible N us later; the stream goes on
//   early_waits_us:N         a wait for a word reads it N us before the stream's write in front of the wait
//                            is seen, unless a barrier (CU_STREAM_MEM_OP_BARRIER) stands between them
//   stuck_stream[:N]         each hardware queue stops for good after N pieces of work (default 0)
//   queues:N                 all streams of a context share N channels (1 to 32) in which work runs in order
//   launch_fails:N           after N launches of the process, every further one returns
//                            CUDA_ERROR_LAUNCH_FAILED
//   exit_at_launch:N         in place of the N-th launch (from 0) the process ends by exit(0): it has
//                            destroyed nothing, and work of it may be queued
//   crash_after_exit[:N]     once the driver's own exit handler has begun, calls from other threads end the
//                            process by SIGSEGV; the handler takes N us (default 0)
//   cancellation_points      calls that name a stream are cancellation points, as if the driver polled
//   drop_wait:N              the N-th cuStreamWaitEvent of the process (from 0) does nothing
//   drop_waits:N             no cuStreamWaitEvent of the process does anything from the N-th (from 0) on
#pragma once

#include <string>

#include "simgpu/model/fluid.h"

namespace simgpu {

// A FaultSet keeps the faults to inject. Its default values inject none.
struct FaultSet {
  bool memops_unsupported = false;
  long memops_fail_after = -1;
  long broken_memop = -1;
  bool host_register_fails = false;
  long import_fails_after = -1;
  bool no_memory = false;
  long broken_copy = -1;
  long delayed_writes_us = 0;
  long early_waits_us = 0;
  long exit_at_launch = -1;
  long unload_us = -1;  // -1: calls after the driver's exit handler do not crash
  long stuck_after = -1;
  long queues = 0;
  long launch_fails_after = -1;
  long dropped_wait = -1;
  long first_dropped_wait = -1;
  bool cancellation_points = false;
};

// Parses a list of faults. Returns false, with one line in *error, for an unknown fault or a bad number.
bool ParseFaults(const std::string& text, FaultSet* faults, std::string* error);

// Returns the faults of this process. A malformed SIMGPU_FAULT is reported once and ignored as a whole.
const FaultSet& Faults();

}  // namespace simgpu

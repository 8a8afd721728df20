// Faults to inject, from SIMGPU_FAULT: a comma-separated list of
//   memops_unsupported        stream memory operations return CUDA_ERROR_NOT_SUPPORTED, their attributes 0
//   memops_fail:N            the N-th memory operation of the process and all after it return
//                             CUDA_ERROR_NOT_SUPPORTED, those before are carried out
//   memops_break:N           the N-th memory operation of the process, from 0, is queued, and when the GPU
//   comes to
//                             it the process loses its contexts (CUDA_ERROR_ILLEGAL_ADDRESS)
//   host_register_fails       cuMemHostRegister returns CUDA_ERROR_NOT_SUPPORTED
//   delayed_writes_us:N       a stream's write of a word becomes visible N us later; the stream goes on
//   stuck_stream[:N]          streams stop working for good after N pieces of work (default 0)
//   queues:N                  all streams of a GPU share N hardware queues: false dependencies
//   launch_fails:N            the N-th launch of the process and all after it return CUDA_ERROR_LAUNCH_FAILED
//   cancellation_points       calls that name a stream are points of cancellation, as where a driver polls
//   drop_wait:N               the N-th cuStreamWaitEvent of the process, from 0, does nothing
#pragma once

#include <string>

#include "simgpu/model/fluid.h"

namespace simgpu {

struct FaultSet {
  bool memops_unsupported = false;
  long memops_fail_after = -1;
  long broken_memop = -1;
  bool host_register_fails = false;
  long delayed_writes_us = 0;
  long stuck_after = -1;
  long queues = 0;
  long launch_fails_after = -1;
  long dropped_wait = -1;
  bool cancellation_points = false;
};

// False, with one line in *error, for an unknown fault or a bad number.
bool ParseFaults(const std::string& text, FaultSet* faults, std::string* error);

// Those of this process. A malformed SIMGPU_FAULT is reported once and ignored as a whole.
const FaultSet& Faults();

}  // namespace simgpu

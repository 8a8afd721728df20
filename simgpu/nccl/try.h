// Declares a macro that passes failures on.
#pragma once

#define SIMGPU_NCCL_TRY(expression)           \
  do {                                        \
    const ncclResult_t tried_ = (expression); \
    if (tried_ != ncclSuccess) return tried_; \
  } while (false)

// The last error, and warnings on stderr where NCCL_DEBUG asks for them (WARN, INFO or TRACE). Thread-safe.
#pragma once

#include <string>

#include "simgpu/nccl/nccl.h"

namespace simgpu::nccl {

// Remembers `text` as the process's last error, logs it, and returns `result`.
ncclResult_t Refuse(ncclResult_t result, const std::string& text);

// Valid until this thread asks again.
const char* LastError();

}  // namespace simgpu::nccl

// Keeps the last error, and prints warnings on stderr if NCCL_DEBUG is WARN, INFO or TRACE. Thread-safe.
#pragma once

#include <string>

#include "simgpu/nccl/nccl.h"

namespace simgpu::nccl {

// Logs `text`.
void Warn(const std::string& text);

// Remembers `text` as the process's last error, logs it, and returns `result`.
ncclResult_t Refuse(ncclResult_t result, const std::string& text);

// Returns the last error of the process. The text is valid until this thread calls it again.
const char* LastError();

}  // namespace simgpu::nccl

// Writes zeros over memory, and gives its pages back to the system if it can: they read as zeros until they
// are written again, and cost nothing.
#pragma once

#include <cstddef>

namespace simgpu {

// Only a fill of at least this many bytes gives pages back.
constexpr std::size_t kLeastPages = 64 << 10;

// Writes zeros. The memory may be private, or shared with other processes, who see the zeros too. Any thread
// may call it.
void WriteZeros(void* begin, std::size_t bytes);

}  // namespace simgpu

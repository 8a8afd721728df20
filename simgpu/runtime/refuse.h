// Says on stderr which call this library refuses.
#pragma once

namespace simgpu::runtime {

// Writes one line, "simgpu runtime [<pid>] refused <name>: <reason>", on the first call with this `name`.
// Both arguments must live as long as the process. Thread-safe.
void Refuse(const char* name, const char* reason);

}  // namespace simgpu::runtime

// A process as a client of MPS: where a control daemon's pipe is, cuInit asks it for a server, and waits
// while that serves another user. The connection stands until the process ends; where the daemon ends it
// first, the process ends too, as a client whose server has died.
#pragma once

namespace simgpu {

// False where there is a pipe and nobody answers. Once per process; thread-safe.
bool ConnectToMps();

// SMs of a GPU of this node that the process may use at once, as MPS limits it: see mps_limit.h. No limit
// where GPUs are not shared as under MPS, or the percentage is 100.
double ActiveThreadLimit(int gpu);

}  // namespace simgpu

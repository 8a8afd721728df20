// A process as a client of MPS: where a control daemon's pipe is, cuInit asks it for a server, and waits
// while that serves another user. The connection stands until the process ends; where the daemon ends it
// first, the process ends too, as a client whose server has died.
#pragma once

namespace simgpu {

// False where there is a pipe and nobody answers. Once per process; thread-safe.
bool ConnectToMps();

}  // namespace simgpu

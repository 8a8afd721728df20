// Makes the process a client of MPS. If a control daemon listens, cuInit asks it for a server and blocks
// while the server serves another user. If none listens, the process goes on without MPS, as with a real
// driver, even if a daemon left its socket behind. The connection lasts until the process ends. If the daemon
// ends it earlier, the process ends too, as a client whose server has died.
#pragma once

#include "simgpu/cuda/api.h"

namespace simgpu {

// Connects once per process. Returns an error of MPS if a daemon listens and gives no server. Thread-safe.
CUresult ConnectToMps();

// Returns true if the process is a client of MPS, or was one until it began to exit.
bool IsMpsClient();

// These two tell MPS that the process makes a context on a GPU of this node, and that work of the process
// failed there. They do nothing if the process is no client.
void TellMpsOfUse(int gpu);
void ReportFaultToMps(int gpu);

// Returns how many SMs of a GPU of this node the process may use at once under MPS (see mps_limit.h).
// Returns Fluid::kUnlimited if GPUs are not shared as under MPS, or if the percentage is 100.
double ActiveThreadLimit(int gpu);

}  // namespace simgpu

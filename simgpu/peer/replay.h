// One communicator of a rank without a program: makes the calls that it is told of, on the software GPU, with
// compute before them as a profile says, ordered by events as DistributedDataParallel orders them.
#pragma once

#include <cuda.h>

#include <vector>

#include "simgpu/nccl/peers.h"
#include "simgpu/peer/profile.h"

namespace simgpu::peer {

// Until the other end hangs up, or the communicator fails. Takes the socket. Any thread.
void Replay(nccl::UniqueFd socket, std::vector<Stretch> profile);

}  // namespace simgpu::peer

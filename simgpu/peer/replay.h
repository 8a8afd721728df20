// Plays one communicator of a rank without a program. It makes the calls that it is told of on the software
// GPU, with compute before them as the profile says. It orders them by events as DistributedDataParallel
// does.
#pragma once

#include <cuda.h>

#include <vector>

#include "simgpu/nccl/peers.h"
#include "simgpu/peer/profile.h"

namespace simgpu::peer {

// Runs until the other end closes the socket or the communicator fails. Takes ownership of the socket. Any
// thread may call it.
void Replay(nccl::UniqueFd socket, std::vector<Stretch> profile);

}  // namespace simgpu::peer

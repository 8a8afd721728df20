// Makes the two words of a hand-over, in one of the places that can hold them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "benchmarks/gpu/programs/kernels.h"

namespace crossover::bench {

enum class Home {
  kHost,  // host memory, registered by both clients
  kVmm,   // device memory by an exported handle, passed as a descriptor
  kIpc    // device memory by a CUDA IPC handle
};

// Returns the place of that name (host, vmm, ipc), or nothing where there is none.
std::optional<Home> HomeFrom(std::string_view name);

// Returns the device address of two words that both clients see. Client 0 makes them and passes them on
// through `socket`, client 1 takes them. `host` is memory that both share. Where a driver refuses, the
// program prints what failed and ends.
CUdeviceptr SharedWords(Home home, int client, int socket, std::uint32_t* host, CUdeviceptr host_on_device,
                        CUdevice device);

}  // namespace crossover::bench

// Layout of the state file: what all processes of a software machine share. All zero but the header is a
// valid state of an unused machine.
//
// A process is known by its *token*: its entry in `clients` in the low byte, a generation above, never 0, bit
// 31 clear. It is alive while it holds a POSIX record lock on the file clients/<entry>, which the kernel
// drops at death and does not hand to forked children. Process ids would not do: clients live in different
// PID namespaces.
#pragma once

#include <cstdint>

#include "simgpu/machine/config.h"
#include "simgpu/model/fluid.h"

namespace simgpu {

constexpr std::uint32_t kStateMagic = 0x55504753;  // "SGPU"
constexpr std::uint32_t kStateVersion = 2;
constexpr int kMaxClients = constants::kClients;
constexpr int kMaxLinks = constants::kLinks;
constexpr std::uint32_t kLockContended = 1u << 31;

struct SharedCapacity {
  std::uint32_t lock;          // token of the holder, with kLockContended while others wait; 0: free
  std::uint32_t changed;       // futex: counts up when something may finish earlier than was foreseen
  std::uint32_t waiters;       // how many sleep on `changed`; too high after a kill, which costs a wake-up
  std::uint32_t place;         // of a link: which link of the machine it is, 0 for a free entry
  std::uint64_t communicator;  // of a private link
  Fluid fluid;
};

// Something may finish earlier than waiters foresaw: they look again.
void TellWaiters(SharedCapacity* capacity);

struct SharedClient {
  std::uint32_t token;  // 0: never used, or left in order
  std::uint32_t generation;
  // The same for all libraries of one process, which each are a client of their own. Record locks belong to
  // the process: it can neither test its own nor afford to open and close the files that carry them.
  std::uint64_t process;
};

struct SharedGpu {
  SharedCapacity compute;
  std::uint64_t memory_bytes;
  std::uint64_t used_bytes[kMaxClients];  // by client; guarded by compute.lock
};

struct SharedState {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t bytes;
  std::uint64_t digest;
  std::int64_t last_reap;
  std::uint32_t links_lock;  // guards the table of links, as SharedCapacity.lock does a capacity
  std::uint32_t reserved;
  SharedClient clients[kMaxClients];
  SharedCapacity links[kMaxLinks];
  SharedGpu gpus[kMaxGpus];
};

}  // namespace simgpu

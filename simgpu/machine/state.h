// Declares the layout of the state file, which all processes of a software machine share. All zero but the
// header is a valid state of an unused machine.
//
// A process is known by its *token*: its entry in `clients` in the low byte, a generation above. A token is
// never 0, and its bit 31 is clear. A process is alive while it holds a POSIX record lock on the file
// clients/<entry>. The kernel drops the lock when the process dies and does not hand it to forked children.
// Process IDs would not do, because clients live in different PID namespaces.
#pragma once

#include <cstdint>

#include "simgpu/machine/config.h"
#include "simgpu/model/fluid.h"

namespace simgpu {

constexpr std::uint32_t kStateMagic = 0x55504753;  // "SGPU"
constexpr std::uint32_t kStateVersion = 5;
constexpr int kMaxClients = constants::kClients;
constexpr int kMaxLinks = constants::kLinks;
constexpr int kMaxStores = 256;
constexpr std::uint32_t kLockContended = 1u << 31;

// A SharedCapacity is a Fluid that processes share, with its lock.
struct SharedCapacity {
  std::uint32_t lock;     // token of the holder, with kLockContended while others wait; 0: free
  std::uint32_t changed;  // futex; counts up when something may finish earlier than forecast
  std::uint32_t waiters;  // threads that sleep on `changed`; too high after a kill, which costs a wake-up
  std::uint32_t place;    // for a link: which link of the machine it is; 0 for a free entry
  std::uint64_t communicator;  // for a private link; else 0
  Fluid fluid;
};

// Makes waiting threads look again, because something may finish earlier than they have forecast.
void TellWaiters(SharedCapacity* capacity);

// A SharedClient is one entry of the table of clients.
struct SharedClient {
  std::uint32_t token;  // 0: never used, or its process died and was removed
  std::uint32_t generation;
  // This number is the same for all libraries of one process. Each library is a client of its own, but record
  // locks belong to the process. It cannot test its own locks, and it must not open and close the files that
  // carry them.
  std::uint64_t process;
  std::uint32_t of_mps;  // 1 if the process is a client of MPS
  std::uint32_t reserved;
};

struct SharedGpu {
  SharedCapacity compute;
  std::uint64_t memory_bytes;
  // These two are of each client; guarded by compute.lock.
  std::uint64_t used_bytes[kMaxClients];
  std::uint32_t contexts[kMaxClients];
};

// A SharedStore notes when a stream wrote a word. See stores.cc.
struct SharedStore {
  std::uint64_t key;  // 0 while the entry changes
  std::int64_t time;
};

struct SharedState {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t bytes;
  std::uint64_t digest;
  std::int64_t last_reap;
  std::uint32_t links_lock;  // guards the table of links, as SharedCapacity.lock guards a capacity
  std::uint32_t reserved;
  SharedClient clients[kMaxClients];
  SharedCapacity links[kMaxLinks];
  SharedGpu gpus[kMaxGpus];
  std::uint32_t stores_made;  // the entry of the next store is this modulo kMaxStores
  SharedStore stores[kMaxStores];
};

}  // namespace simgpu

// Brings the ranks of a communicator together.
//
// The process that makes the unique ID listens, on a thread of its own, at an address in the ID. Every rank
// connects and says which rank it is. Once all ranks are there, each gets the table of all ranks. Each rank
// then connects twice to its successor on the ring: for data, and for what the hosts exchange when they
// split.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "simgpu/nccl/socket.h"
#include "simgpu/nccl/wire.h"

namespace simgpu::nccl {

// Starts the thread that listens, and fills in *id. The thread ends when every rank has its answer. Returns
// false, with the reason in *error, if it cannot listen.
bool StartRoot(ncclUniqueId* id, std::string* error);

// An Arrival is an accepted connection, with what was already read from it.
struct Arrival {
  UniqueFd fd;
  FrameReader reader;
  Hello hello;
};

// A Meeting is the result of Meet(): the table and the connections of one rank.
struct Meeting {
  std::vector<Member> members;
  std::uint64_t nonce = 0;
  UniqueFd listener;
  UniqueFd next;  // ring data, to the successor
  UniqueFd control_next;
  Arrival prev;  // ring data, from the predecessor
  Arrival control_prev;
  std::vector<Arrival> early;  // connections of peers that were faster than this rank
};

// Accepts one connection of a rank and reads its hello. Returns false with an empty *error if the other
// side is not a rank of this communicator.
bool AcceptPeer(int listener, std::uint64_t nonce, const Cancel& cancel, Arrival* arrival,
                std::string* error);

// Meets the other ranks. `self` comes without its listener, which is made here. Returns true once the ring
// is connected.
bool Meet(const ncclUniqueId& id, int ranks, int rank, Member self, std::uint32_t library,
          const Cancel& cancel, Meeting* meeting, std::string* error);

}  // namespace simgpu::nccl

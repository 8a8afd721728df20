// How the ranks of a communicator find each other.
//
// The process that makes the unique id listens, on a thread of its own, at an address that the id carries.
// Every rank connects, says who it is, and gets the table of all ranks once all are there. Then each rank
// connects twice to its successor on the ring: for data, and for what the hosts exchange when they split.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "simgpu/nccl/socket.h"
#include "simgpu/nccl/wire.h"

namespace simgpu::nccl {

// Listens and fills in *id. The thread ends when every rank has been answered.
bool StartRoot(ncclUniqueId* id, std::string* error);

// A connection that was accepted, with what was already read from it.
struct Arrival {
  UniqueFd fd;
  FrameReader reader;
  Hello hello;
};

struct Meeting {
  std::vector<Member> members;
  std::uint64_t nonce = 0;
  UniqueFd listener;
  UniqueFd next;  // ring data, to the successor
  UniqueFd control_next;
  Arrival prev;  // ring data, from the predecessor
  Arrival control_prev;
  std::vector<Arrival> early;  // peers that were faster than we
};

// Accepts one connection of a rank and reads its greeting. False with an empty *error: it was a stranger.
bool AcceptPeer(int listener, std::uint64_t nonce, const Cancel& cancel, Arrival* arrival,
                std::string* error);

// Joins the others. `self` without its listener, which is made here. Returns when the ring stands.
bool Meet(const ncclUniqueId& id, int ranks, int rank, Member self, std::uint32_t library,
          const Cancel& cancel, Meeting* meeting, std::string* error);

}  // namespace simgpu::nccl

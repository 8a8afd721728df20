// Connects rank 0 to ranks that have no program, on a machine with one real GPU. Rank 0 tells the processes
// of the other ranks (nccl_peer) which calls it makes, and they make the same calls. They send zeros. The
// bytes, the ring and the links are those of any other job.
//
// SIMGPU_NCCL_PEERS=PATH: rank 0 finds rank r's process at the Unix socket PATH.r. SIMGPU_NCCL_THIN=K: of a
// sum or a broadcast, one K-th goes over the links, so that links can be K times as fast as this machine
// moves bytes. Both sides then run on links of one K-th of the speed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simgpu/nccl/socket.h"
#include "simgpu/nccl/types.h"

namespace simgpu::nccl {

// Rank 0 sends a PeerHello first, and then a Call for each call. Both ends run on one machine.
struct PeerHello {
  static constexpr std::uint64_t kMagic = 0x31524545504c434e;
  std::uint64_t magic = kMagic;
  std::int32_t ranks = 0;
  std::int32_t rank = 0;  // rank of the peer
  ncclUniqueId id{};
};

// A Peers object holds the connections to the peers. One thread at a time.
class Peers {
 public:
  // Connects to the ranks 1 to ranks - 1. Returns null with an empty *error if the environment names no
  // peers or this is not rank 0. Returns null with the reason in *error if they cannot be reached or the
  // environment is malformed.
  static std::unique_ptr<Peers> Call(int ranks, int rank, const ncclUniqueId& id, std::string* error);

  // Returns `call` as it goes over the links.
  simgpu::nccl::Call Thinned(const simgpu::nccl::Call& call) const;
  // Makes the peers make the call. Returns false if one is gone.
  bool Say(const simgpu::nccl::Call& call);

 private:
  std::uint64_t thin_ = 1;
  std::vector<UniqueFd> sockets_;
};

}  // namespace simgpu::nccl

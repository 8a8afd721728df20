// Ranks without a program of their own: on a machine with one real GPU, rank 0 of a job tells the other
// ranks' processes (nccl_peer) which calls it makes, and they make the same ones. What they give is zeros;
// the bytes, the ring and the links are those of any other job.
//
// SIMGPU_NCCL_PEERS=PATH: rank 0 finds rank r's process at the unix socket PATH.r. SIMGPU_NCCL_THIN=K: of a
// sum or a broadcast one K-th goes over the links, so that links can be K times as fast as this machine moves
// bytes; both sides then run on links of one K-th of the speed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simgpu/nccl/socket.h"
#include "simgpu/nccl/types.h"

namespace simgpu::nccl {

// What rank 0 says first, and then for each call. Both ends run on one machine.
struct PeerHello {
  static constexpr std::uint64_t kMagic = 0x31524545504c434e;
  std::uint64_t magic = kMagic;
  std::int32_t ranks = 0;
  std::int32_t rank = 0;  // of the peer
  ncclUniqueId id{};
};

// One thread at a time.
class Peers {
 public:
  // Calls the ranks 1 to ranks - 1. Null, and *error empty, where the environment names no peers or this is
  // not rank 0; null with *error where they cannot be reached or the environment is malformed.
  static std::unique_ptr<Peers> Call(int ranks, int rank, const ncclUniqueId& id, std::string* error);

  // `call` as it goes over the links.
  simgpu::nccl::Call Thinned(const simgpu::nccl::Call& call) const;
  // Has the peers make the call. False where one is gone.
  bool Say(const simgpu::nccl::Call& call);

 private:
  std::uint64_t thin_ = 1;
  std::vector<UniqueFd> sockets_;
};

}  // namespace simgpu::nccl

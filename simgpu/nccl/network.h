// Everything that connects one rank of a communicator to the others: channels, links, who is who. Used by the
// communicator's engine thread; set up before that starts.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simgpu/machine/machine.h"
#include "simgpu/nccl/edge.h"
#include "simgpu/nccl/fault.h"

namespace simgpu::nccl {

class Network {
 public:
  // `machine` and `gpu` (of this rank, on its node) may be absent: nullptr and -1. Links are then infinitely
  // fast.
  Network(Meeting meeting, int rank, Machine* machine, int gpu, const Fault& fault);

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(members_.size()); }
  const Fault& fault() const { return fault_; }

  // The neighbours on the ring. What comes from the successor, and goes to the predecessor, is only ever the
  // news of a failure.
  Outbound& to_next() { return *to_next_; }
  Inbound& from_prev() { return *from_prev_; }
  Channel& next() { return next_; }
  Channel& prev() { return prev_; }

  // The way to and from any rank but this one. To: connects on first use; nullptr, with *error, where the
  // peer cannot be reached. From: nullptr until the peer has connected.
  Outbound* To(int peer, std::string* error);
  Inbound* From(int peer);
  // Numbers the transfers of a pair, the same at both ends.
  std::uint32_t NextTo(int peer) { return ++sent_[peer]; }
  std::uint32_t NextFrom(int peer) { return ++received_[peer]; }

  // Takes in connections of peers, if any wait.
  void AcceptPeers();
  int listener() const { return listener_.get(); }

  // Every channel: the two of the ring first.
  std::vector<Channel*> Channels();

  // "rank 2 (node1, pid 77)"
  std::string Describe(int rank) const;

 private:
  bool SameNode(int peer) const;
  Flow* OutLink(int peer);
  Flow* InLink(int peer);
  double Slowdown(int peer) const { return SameNode(peer) ? 1.0 : fault_.slow_link; }

  struct Peer {
    Channel channel;
    std::unique_ptr<Outbound> out;
    std::unique_ptr<Inbound> in;
  };
  void Admit(Arrival arrival);

  std::vector<Member> members_;
  std::uint64_t nonce_;
  int rank_;
  Machine* machine_;
  int gpu_;
  Fault fault_;
  UniqueFd listener_;
  std::unique_ptr<Flow> node_out_;
  std::unique_ptr<Flow> node_in_;
  std::unique_ptr<Flow> gpu_out_;
  Channel next_;
  Channel prev_;
  std::unique_ptr<Outbound> to_next_;
  std::unique_ptr<Inbound> from_prev_;
  std::map<int, std::unique_ptr<Peer>> to_;
  std::map<int, std::unique_ptr<Peer>> from_;
  std::map<int, std::uint32_t> sent_;
  std::map<int, std::uint32_t> received_;
};

}  // namespace simgpu::nccl

// Connects one rank of a communicator to the others: channels, links, and the table of members. It is set
// up before the communicator's engine thread starts; from then on only that thread uses it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simgpu/machine/machine.h"
#include "simgpu/nccl/edge.h"
#include "simgpu/nccl/fault.h"

namespace simgpu::nccl {

// A Network owns all connections of one rank.
class Network {
 public:
  // `machine` may be nullptr; links are then infinitely fast. `gpu` is the place of this rank's GPU on its
  // node, or -1.
  Network(Meeting meeting, int rank, Machine* machine, int gpu, const Fault& fault);

  int rank() const { return rank_; }
  int ranks() const { return static_cast<int>(members_.size()); }
  const Fault& fault() const { return fault_; }

  // These return the connections to the neighbours on the ring. The successor sends nothing but kError and
  // kBye, and the predecessor gets nothing else.
  Outbound& to_next() { return *to_next_; }
  Inbound& from_prev() { return *from_prev_; }
  Channel& next() { return next_; }
  Channel& prev() { return prev_; }

  // These return the connection to and from a peer, which is any rank except this one. To() connects on
  // first use and returns nullptr, with the reason in *error, if the peer cannot be reached. From() returns
  // nullptr until the peer has connected.
  Outbound* To(int peer, std::string* error);
  Inbound* From(int peer);
  // These number the transfers of a pair of ranks. Both ends count the same numbers.
  std::uint32_t NextTo(int peer) { return ++sent_[peer]; }
  std::uint32_t NextFrom(int peer) { return ++received_[peer]; }

  // Accepts connections of peers, if any wait. Does not wait for one.
  void AcceptPeers();
  int listener() const { return listener_.get(); }

  // Returns every channel; the two of the ring come first.
  std::vector<Channel*> Channels();

  // Returns a text such as "rank 2 (node1, pid 77)".
  std::string Describe(int rank) const;

 private:
  Reach ReachOf(int peer) const;
  bool SameNode(int peer) const { return ReachOf(peer) == Reach::kSameNode; }
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

#include "simgpu/nccl/network.h"

#include <poll.h>

#include <cstring>

namespace simgpu::nccl {

Network::Network(Meeting meeting, int rank, Machine* machine, int gpu, const Fault& fault)
    : members_(std::move(meeting.members)),
      nonce_(meeting.nonce),
      rank_(rank),
      machine_(machine),
      gpu_(gpu),
      fault_(fault),
      listener_(std::move(meeting.listener)) {
  if (ranks() == 1) return;
  const int successor = (rank + 1) % ranks();
  const int predecessor = (rank + ranks() - 1) % ranks();
  next_ = Channel(std::move(meeting.next));
  prev_ = Channel(std::move(meeting.prev));
  to_next_ = std::make_unique<Outbound>(&next_, OutLink(successor), ReachOf(successor), Slowdown(successor));
  from_prev_ = std::make_unique<Inbound>(&prev_, InLink(predecessor), ReachOf(predecessor));
  for (Arrival& arrival : meeting.early) Admit(std::move(arrival));
}

Reach Network::ReachOf(int peer) const {
  const auto& self = members_[static_cast<std::size_t>(rank_)];
  const bool same = std::strcmp(self.node, members_[static_cast<std::size_t>(peer)].node) == 0;
  return same ? Reach::kSameNode : Reach::kOtherNode;
}

Flow* Network::OutLink(int peer) {
  if (machine_ == nullptr) return nullptr;
  if (!SameNode(peer)) {
    if (!node_out_) node_out_ = machine_->OpenNodeLink(Direction::kOut, nonce_);
    return node_out_.get();
  }
  if (!gpu_out_ && gpu_ >= 0) gpu_out_ = machine_->OpenGpuLink(gpu_, nonce_);
  return gpu_out_.get();
}

// Opens the receiver's link. Within a node there is none: the sender's link accounts for the transfer.
Flow* Network::InLink(int peer) {
  if (machine_ == nullptr || SameNode(peer)) return nullptr;
  if (!node_in_) node_in_ = machine_->OpenNodeLink(Direction::kIn, nonce_);
  return node_in_.get();
}

Outbound* Network::To(int peer, std::string* error) {
  auto& entry = to_[peer];
  if (!entry) {
    const Cancel never;
    UniqueFd fd = Connect(members_[static_cast<std::size_t>(peer)].listener, never, error);
    if (!fd) {
      to_.erase(peer);
      return nullptr;
    }
    entry = std::make_unique<Peer>();
    entry->channel = Channel(std::move(fd));
    entry->channel.Send(EncodeHello({nonce_, static_cast<std::uint32_t>(rank_), Purpose::kPeer}));
    entry->out = std::make_unique<Outbound>(&entry->channel, OutLink(peer), ReachOf(peer), Slowdown(peer));
  }
  return entry->out.get();
}

Inbound* Network::From(int peer) {
  const auto found = from_.find(peer);
  return found == from_.end() ? nullptr : found->second->in.get();
}

void Network::AcceptPeers() {
  for (;;) {
    pollfd waiting{listener_.get(), POLLIN, 0};
    if (poll(&waiting, 1, 0) <= 0) return;
    const Cancel never;
    std::string ignored;
    Arrival arrival;
    if (!AcceptPeer(listener_.get(), nonce_, never, &arrival, &ignored)) continue;
    if (arrival.hello.purpose == Purpose::kPeer) Admit(std::move(arrival));
  }
}

void Network::Admit(Arrival arrival) {
  const int peer = static_cast<int>(arrival.hello.rank);
  if (peer >= ranks() || peer == rank_ || from_.contains(peer)) return;
  auto& entry = from_[peer];
  entry = std::make_unique<Peer>();
  entry->channel = Channel(std::move(arrival));
  entry->in = std::make_unique<Inbound>(&entry->channel, InLink(peer), ReachOf(peer));
}

std::vector<Channel*> Network::Channels() {
  std::vector<Channel*> channels{&next_, &prev_};
  for (const auto* peers : {&to_, &from_}) {
    for (const auto& [rank, peer] : *peers) channels.push_back(&peer->channel);
  }
  return channels;
}

std::string Network::Describe(int rank) const {
  const Member& member = members_[static_cast<std::size_t>(rank)];
  return "rank " + std::to_string(rank) + " (" + member.node + ", pid " + std::to_string(member.pid) + ")";
}

}  // namespace simgpu::nccl

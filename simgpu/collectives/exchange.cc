#include "simgpu/collectives/exchange.h"

namespace simgpu::nccl {

namespace {

constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

// Returns the address of the block that belongs to `rank`.
const std::byte* Block(const void* buffer, const Exchange& exchange, int rank) {
  return static_cast<const std::byte*>(buffer) +
         static_cast<std::uint64_t>(rank) * exchange.count * SizeOf(exchange.type);
}
std::byte* Block(void* buffer, const Exchange& exchange, int rank) {
  return static_cast<std::byte*>(buffer) +
         static_cast<std::uint64_t>(rank) * exchange.count * SizeOf(exchange.type);
}

Leg Send(int peer, const void* from) { return {Function::kSend, peer, from, nullptr}; }
Leg Recv(int peer, void* into) { return {Function::kRecv, peer, nullptr, into}; }

}  // namespace

const char* Name(Pattern pattern) {
  switch (pattern) {
    case Pattern::kAlltoAll:
      return "AlltoAll";
    case Pattern::kGather:
      return "Gather";
    case Pattern::kScatter:
      return "Scatter";
  }
  return "unknown pattern";
}

std::string FindFault(const Exchange& exchange, int rank, int ranks) {
  const bool rooted = exchange.pattern != Pattern::kAlltoAll;
  if (rooted && (exchange.root < 0 || exchange.root >= ranks)) {
    return "root: expected a rank from 0 to " + std::to_string(ranks - 1) + ", got " +
           std::to_string(exchange.root);
  }
  if (SizeOf(exchange.type) == 0) return "datatype " + std::to_string(exchange.type) + " does not exist";
  if (exchange.count > kMostElements / static_cast<std::uint64_t>(ranks)) return "count is too large";
  if (exchange.count == 0) return "";
  const bool reads = exchange.pattern != Pattern::kScatter || rank == exchange.root;
  const bool writes = exchange.pattern != Pattern::kGather || rank == exchange.root;
  if (reads && exchange.send == nullptr) return "sendbuff is null";
  if (writes && exchange.recv == nullptr) return "recvbuff is null";
  if (!rooted && ranks > 1 && exchange.send == exchange.recv)
    return "expected a recvbuff other than sendbuff, because there is no in-place form, got the same";
  return "";
}

std::vector<Leg> Legs(const Exchange& exchange, int rank, int ranks) {
  std::vector<Leg> legs;
  if (exchange.count == 0) return legs;
  const bool is_root = rank == exchange.root;
  switch (exchange.pattern) {
    case Pattern::kAlltoAll:
      for (int peer = 0; peer < ranks; ++peer) {
        legs.push_back(Send(peer, Block(exchange.send, exchange, peer)));
        legs.push_back(Recv(peer, Block(exchange.recv, exchange, peer)));
      }
      break;
    case Pattern::kGather: {
      const bool in_place = is_root && exchange.send == Block(exchange.recv, exchange, rank);
      if (!in_place) legs.push_back(Send(exchange.root, exchange.send));
      for (int peer = 0; is_root && peer < ranks; ++peer) {
        if (peer != rank || !in_place) legs.push_back(Recv(peer, Block(exchange.recv, exchange, peer)));
      }
      break;
    }
    case Pattern::kScatter: {
      const bool in_place = is_root && exchange.recv == Block(exchange.send, exchange, rank);
      for (int peer = 0; is_root && peer < ranks; ++peer) {
        if (peer != rank || !in_place) legs.push_back(Send(peer, Block(exchange.send, exchange, peer)));
      }
      if (!in_place) legs.push_back(Recv(exchange.root, exchange.recv));
      break;
    }
  }
  return legs;
}

}  // namespace simgpu::nccl

#include "simgpu/nccl/rendezvous.h"

#include <unistd.h>

#include <algorithm>

namespace simgpu::nccl {

namespace {

bool AskRoot(const Rendezvous& where, const Join& join, const Cancel& cancel, std::vector<Member>* members,
             std::string* error) {
  const UniqueFd root = Connect(where.root, cancel, error);
  if (!root || !SendAll(root.get(), EncodeJoin(join), cancel, error)) return false;
  FrameReader reader;
  const auto frame = ReceiveFrame(root.get(), reader, Kind::kTable, cancel, error);
  if (!frame) return false;
  auto table = DecodeTable(frame->payload);
  if (!table || table->size() != join.ranks) {
    *error = "the root sent a table that is not valid";
    return false;
  }
  *members = std::move(*table);
  return true;
}

UniqueFd Greet(const Member& member, const Hello& hello, const Cancel& cancel, std::string* error) {
  UniqueFd fd = Connect(member.listener, cancel, error);
  if (fd && !SendAll(fd.get(), EncodeHello(hello), cancel, error)) fd.Reset();
  return fd;
}

// Accepts connections until both of the predecessor's are there.
bool AwaitPredecessor(std::uint32_t predecessor, const Cancel& cancel, Meeting* meeting, std::string* error) {
  while (!meeting->prev.fd || !meeting->control_prev.fd) {
    Arrival arrival;
    if (!AcceptPeer(meeting->listener.get(), meeting->nonce, cancel, &arrival, error)) {
      if (!error->empty()) return false;
      continue;  // not a rank of this communicator
    }
    if (arrival.hello.purpose == Purpose::kPeer) {
      meeting->early.push_back(std::move(arrival));
    } else if (arrival.hello.rank == predecessor) {
      (arrival.hello.purpose == Purpose::kRing ? meeting->prev : meeting->control_prev) = std::move(arrival);
    }
  }
  return true;
}

}  // namespace

bool AcceptPeer(int listener, std::uint64_t nonce, const Cancel& cancel, Arrival* arrival,
                std::string* error) {
  arrival->fd = Accept(listener, cancel, error);
  if (!arrival->fd) return false;
  std::string reason;
  constexpr int kPatienceMs = 2000;  // a rank sends its hello at once
  const auto frame =
      ReceiveFrame(arrival->fd.get(), arrival->reader, Kind::kHello, cancel, &reason, kPatienceMs);
  const auto hello = frame ? DecodeHello(frame->payload) : std::nullopt;
  if (!hello || hello->nonce != nonce) return false;
  arrival->hello = *hello;
  return true;
}

bool Meet(const ncclUniqueId& id, int ranks, int rank, Member self, std::uint32_t library,
          const Cancel& cancel, Meeting* meeting, std::string* error) {
  const auto where = DecodeUniqueId(id);
  if (!where) {
    *error = "the unique id was not made by ncclGetUniqueId of this library";
    return false;
  }
  const auto address = ChooseAddress(error);
  if (!address) return false;
  self.listener = *address;
  self.pid = static_cast<std::uint32_t>(getpid());
  meeting->listener = Listen(&self.listener, error);
  if (!meeting->listener) return false;

  Join join;
  join.nonce = meeting->nonce = where->nonce;
  join.ranks = static_cast<std::uint32_t>(ranks);
  join.rank = static_cast<std::uint32_t>(rank);
  join.library = library;
  join.self = self;
  if (!AskRoot(*where, join, cancel, &meeting->members, error)) return false;
  if (ranks == 1) return true;

  const Member& successor = meeting->members[static_cast<std::size_t>((rank + 1) % ranks)];
  meeting->next = Greet(successor, {where->nonce, join.rank, Purpose::kRing}, cancel, error);
  if (!meeting->next) return false;
  meeting->control_next = Greet(successor, {where->nonce, join.rank, Purpose::kControl}, cancel, error);
  if (!meeting->control_next) return false;
  return AwaitPredecessor(static_cast<std::uint32_t>((rank + ranks - 1) % ranks), cancel, meeting, error);
}

}  // namespace simgpu::nccl

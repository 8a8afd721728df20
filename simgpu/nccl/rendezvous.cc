#include "simgpu/nccl/rendezvous.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace simgpu::nccl {

namespace {

bool AskRoot(const Rendezvous& where, const Join& join, const Cancel& cancel, std::vector<Member>* members,
             std::string* error) {
  const UniqueFd root = Connect(where.root, cancel, error);
  if (!root) {
    *error +=
        ": the process that made the unique id may have ended or be out of reach, or the id may be of an "
        "earlier start of the job";
    return false;
  }
  if (!SendAll(root.get(), EncodeJoin(join), cancel, error)) return false;
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

// Says how the successor on the ring stands, by what it has sent. It sends nothing before it leaves or fails.
enum class Successor { kThere, kLeft, kLost };

Successor LookAt(int fd) {
  std::array<std::byte, sizeof(FrameHeader)> bytes;
  const ssize_t got = recv(fd, bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Successor::kThere;
  const auto header = got == static_cast<ssize_t>(bytes.size()) ? DecodeHeader(bytes) : std::nullopt;
  return header && header->kind == Kind::kBye ? Successor::kLeft : Successor::kLost;
}

// Waits until a connection comes. Returns false, with the reason in *error, if the successor on the ring is
// lost before. So when a rank dies while the ranks meet, its predecessor fails, then the predecessor of that
// one, and so on: all ranks learn of it.
bool AwaitVisitor(int listener, int successor, const Cancel& cancel, std::string* error) {
  pollfd fds[] = {{listener, POLLIN, 0}, {cancel.fd(), POLLIN, 0}, {successor, POLLIN | POLLRDHUP, 0}};
  for (;;) {
    if (poll(fds, 3, -1) < 0 && errno != EINTR) {
      *error = std::string("poll: ") + std::strerror(errno);
      return false;
    }
    if ((fds[1].revents & POLLIN) != 0) {
      *error = "aborted";
      return false;
    }
    if (fds[0].revents != 0) return true;
    const Successor state = fds[2].revents != 0 ? LookAt(successor) : Successor::kThere;
    if (state == Successor::kLeft) fds[2].fd = -1;  // it needs this rank no more
    if (state == Successor::kLost) {
      *error = "connection lost while the ranks met";
      return false;
    }
  }
}

// Accepts connections until both of the predecessor's are there.
bool AwaitPredecessor(std::uint32_t predecessor, const Cancel& cancel, Meeting* meeting, std::string* error) {
  while (!meeting->prev.fd || !meeting->control_prev.fd) {
    Arrival arrival;
    if (!AwaitVisitor(meeting->listener.get(), meeting->next.get(), cancel, error)) return false;
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

#include "shrink/meeting/sockets.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include <algorithm>

#include "common/base/clock.h"

namespace crossover::shrink::meeting {
namespace {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

SocketAddress ToSocketAddress(const Address& address, std::uint16_t port) {
  SocketAddress to;
  if (IsIpv4(address)) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    memcpy(&v4.sin_addr, address.bytes.data() + 12, sizeof v4.sin_addr);
    memcpy(&to.storage, &v4, sizeof v4);
    to.size = sizeof v4;
  } else {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    v6.sin6_scope_id = address.scope;
    memcpy(&v6.sin6_addr, address.bytes.data(), sizeof v6.sin6_addr);
    memcpy(&to.storage, &v6, sizeof v6);
    to.size = sizeof v6;
  }
  return to;
}

// Returns the address of an interface, or one of zeros if it is of another kind.
Address FromSocketAddress(const sockaddr* from) {
  Address address;
  if (from != nullptr && from->sa_family == AF_INET) {
    sockaddr_in v4;
    memcpy(&v4, from, sizeof v4);
    std::uint8_t bytes[4];
    memcpy(bytes, &v4.sin_addr, sizeof bytes);
    return FromIpv4(bytes);
  }
  if (from != nullptr && from->sa_family == AF_INET6) {
    sockaddr_in6 v6;
    memcpy(&v6, from, sizeof v6);
    memcpy(address.bytes.data(), &v6.sin6_addr, address.bytes.size());
    address.scope = v6.sin6_scope_id;
  }
  return address;
}

// Says how well an address of an interface serves, the smaller the better.
enum class Rank : std::uint8_t { kOfNccl, kIpv4, kIpv6, kLinkLocal, kLoopback, kNone };

Rank RankOf(const ifaddrs& entry, const Address& address, const Address& of_nccl) {
  if ((entry.ifa_flags & IFF_UP) == 0 || address == Address{}) return Rank::kNone;
  if (address == of_nccl) return Rank::kOfNccl;
  if ((entry.ifa_flags & IFF_LOOPBACK) != 0) return Rank::kLoopback;
  if (IsIpv4(address)) return Rank::kIpv4;
  return address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80 ? Rank::kLinkLocal : Rank::kIpv6;
}

UniqueFd Open(const SocketAddress& address) {
  return UniqueFd(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

const sockaddr* Generic(const SocketAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.storage);
}

bool Await(int socket, short events, std::int64_t deadline) {
  pollfd waiting{socket, events, 0};
  for (;;) {
    const int ready = ::poll(&waiting, 1, MsUntil(deadline));
    if (ready > 0) return true;
    if (ready == 0 && MsUntil(deadline) == 0) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

void SendAtOnce(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

std::int64_t DeadlineIn(std::uint32_t ms) { return base::MonotonicNs() + ms * base::kNsPerMs; }

int MsUntil(std::int64_t deadline) {
  const std::int64_t left = deadline - base::MonotonicNs();
  return left <= 0 ? 0 : static_cast<int>((left + base::kNsPerMs - 1) / base::kNsPerMs);
}

Address ChooseAddress(const vote::Id& id) {
  const std::uint8_t loopback[4] = {127, 0, 0, 1};
  Address best = FromIpv4(loopback);
  Rank rank = Rank::kNone;
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return best;
  const Address of_nccl = AddressOfNccl(id);
  for (const ifaddrs* entry = all; entry != nullptr; entry = entry->ifa_next) {
    const Address address = FromSocketAddress(entry->ifa_addr);
    const Rank its = RankOf(*entry, address, of_nccl);
    if (its >= rank) continue;
    rank = its;
    best = address;
  }
  ::freeifaddrs(all);
  return best;
}

UniqueFd Listen(const Address& address, Place* place, Reason* reason) {
  SocketAddress at = ToSocketAddress(address, 0);
  UniqueFd listener = Open(at);
  if (!listener || ::bind(listener.get(), Generic(at), at.size) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at.storage), &at.size) != 0) {
    *reason = vote::MakeReason("port of the vote: expected to listen, got errno %d", errno);
    return {};
  }
  sockaddr_in bound;  // both families keep the port at the same place
  memcpy(&bound, &at.storage, sizeof bound);
  *place = {address, ntohs(bound.sin_port)};
  return listener;
}

UniqueFd Accept(int listener) {
  UniqueFd socket(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) SendAtOnce(socket.get());
  return socket;
}

UniqueFd Connect(const Place& place, std::int64_t deadline) {
  const SocketAddress to = ToSocketAddress(place.address, place.port);
  UniqueFd socket = Open(to);
  if (!socket) return {};
  if (::connect(socket.get(), Generic(to), to.size) != 0) {
    int error = 0;
    socklen_t size = sizeof error;
    if ((errno != EINPROGRESS && errno != EINTR) || !Await(socket.get(), POLLOUT, deadline) ||
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
      return {};
    }
  }
  if (IsWithItself(socket.get())) return {};
  SendAtOnce(socket.get());
  return socket;
}

bool IsWithItself(int socket) {
  sockaddr_storage own{}, peer{};
  socklen_t own_size = sizeof own, peer_size = sizeof peer;
  return ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) == 0 &&
         ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) == 0 &&
         own_size == peer_size && memcmp(&own, &peer, own_size) == 0;
}

bool AwaitInput(int socket, std::int64_t deadline) { return Await(socket, POLLIN, deadline); }

bool SendWhole(int socket, std::span<const std::byte> bytes) {
  ssize_t sent = 0;
  do {
    sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

bool Drain(int socket) {
  std::byte dropped[512];
  constexpr int kMost = 64;  // a stranger that sends without end does not hold the caller
  for (int i = 0; i < kMost; ++i) {
    const ssize_t got = ::recv(socket, dropped, sizeof dropped, MSG_DONTWAIT);
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
  }
  return true;
}

MessageReader::State MessageReader::Read(int socket) {
  if (whole_) filled_ = 0;
  whole_ = false;
  for (;;) {
    std::size_t wanted = sizeof(vote::WireHead);
    if (filled_ >= wanted) {
      Reason ignored;
      wanted = vote::BytesOf(message(), &ignored);
      if (wanted == 0) return State::kBroken;
    }
    if (filled_ == wanted) break;
    const ssize_t got = ::recv(socket, bytes_ + filled_, wanted - filled_, MSG_DONTWAIT);
    if (got == 0) return State::kEnded;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN ? State::kPart : State::kEnded;
    filled_ += static_cast<std::size_t>(got);
  }
  whole_ = true;
  return State::kMessage;
}

}  // namespace crossover::shrink::meeting

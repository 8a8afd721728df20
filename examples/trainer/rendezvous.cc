#include "examples/trainer/rendezvous.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <string>

#include "common/base/fd.h"
#include "examples/trainer/failure.h"

namespace crossover::trainer {
namespace {

using base::UniqueFd;

constexpr std::uint64_t kMagic = 0x58524e5452414e31u;

struct Hello {
  std::uint64_t magic;
  std::uint64_t job;
  std::uint32_t rank;
  std::uint32_t world;
};

enum class Answer : std::uint32_t { kWelcome = 1, kOtherJob = 2 };

std::string Endpoint(const Rank& rank) { return rank.master_addr + ":" + std::to_string(rank.master_port); }

// Waits for `events` on `fd` until `deadline`. Returns true if they came.
bool Poll(int fd, short events, std::int64_t deadline) {
  const std::int64_t left = deadline - base::MonotonicNs();
  if (left <= 0) return false;
  pollfd entry{fd, events, 0};
  return poll(&entry, 1, static_cast<int>(left / base::kNsPerMs) + 1) > 0;
}

bool ReadAll(int fd, void* data, std::size_t size, std::int64_t deadline) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    if (!Poll(fd, POLLIN, deadline)) return false;
    const ssize_t got = recv(fd, at, size, 0);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

// Sends a few bytes into an empty socket buffer, so a send is never partial.
bool WriteAll(int fd, const void* data, std::size_t size) {
  return send(fd, data, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
}

struct Addresses {
  addrinfo* list = nullptr;
  ~Addresses() {
    if (list != nullptr) freeaddrinfo(list);
  }
};

void Resolve(const Rank& rank, bool listen, Addresses& addresses) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = listen ? AI_PASSIVE : 0;
  const std::string port = std::to_string(rank.master_port);
  const int error = getaddrinfo(rank.master_addr.c_str(), port.c_str(), &hints, &addresses.list);
  if (error != 0)
    throw Failure("environment: MASTER_ADDR=" + rank.master_addr + ": " + gai_strerror(error), 2);
}

// Returns the wildcard address with the port of `address`.
sockaddr_storage Anywhere(const addrinfo& address) {
  sockaddr_storage anywhere{};
  std::memcpy(&anywhere, address.ai_addr, address.ai_addrlen);
  if (address.ai_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&anywhere)->sin6_addr = in6addr_any;
  } else {
    reinterpret_cast<sockaddr_in*>(&anywhere)->sin_addr.s_addr = htonl(INADDR_ANY);
  }
  return anywhere;
}

// Binds to `address`. On a cluster, MASTER_ADDR may be a Service in front of this rank and not an address
// of this machine; then binds to all addresses.
bool Bind(int fd, const addrinfo& address) {
  if (bind(fd, address.ai_addr, address.ai_addrlen) == 0) return true;
  if (errno != EADDRNOTAVAIL) return false;
  const sockaddr_storage anywhere = Anywhere(address);
  return bind(fd, reinterpret_cast<const sockaddr*>(&anywhere), address.ai_addrlen) == 0;
}

// Connects. Returns 0, or an errno that says why no process answered.
int TryToConnect(int fd, const addrinfo& address, std::int64_t deadline) {
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!Poll(fd, POLLOUT, deadline)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

UniqueFd ListenAsMaster(const Rank& rank) {
  Addresses addresses;
  Resolve(rank, true, addresses);
  const addrinfo& address = *addresses.list;
  UniqueFd fd(socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC, address.ai_protocol));
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!Bind(fd.get(), address) || listen(fd.get(), 128) != 0) {
    throw Failure("cannot listen on " + Endpoint(rank) + ": " + std::strerror(errno));
  }
  return fd;
}

// Tries until rank 0 listens, from a new port each time. Packets that were sent to a Service's address
// before the routes to its pods existed do not reach the pods later.
UniqueFd ConnectToMaster(const Rank& rank, std::int64_t deadline) {
  Addresses addresses;
  Resolve(rank, false, addresses);
  const addrinfo& address = *addresses.list;
  for (;;) {
    UniqueFd fd(
        socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, address.ai_protocol));
    errno = TryToConnect(fd.get(), address, base::MonotonicNs() + base::kNsPerSecond);
    if (errno == 0) return fd;
    if (base::MonotonicNs() > deadline) {
      throw Failure("cannot reach rank 0 at " + Endpoint(rank) + ": " + std::strerror(errno));
    }
    usleep(20'000);
  }
}

namespace {

void Serve(const Rank& rank, std::uint64_t job, std::span<char> bytes, std::int64_t deadline) {
  const UniqueFd listener = ListenAsMaster(rank);
  std::map<std::uint32_t, UniqueFd> peers;
  while (peers.size() + 1 < rank.world) {
    if (!Poll(listener.get(), POLLIN, deadline)) {
      throw Failure(std::to_string(rank.world - 1 - peers.size()) + " of " + std::to_string(rank.world) +
                    " ranks did not come to " + Endpoint(rank));
    }
    UniqueFd peer(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    Hello hello{};
    // Ignore connections of other programs to this port.
    if (!peer || !ReadAll(peer.get(), &hello, sizeof hello, base::MonotonicNs() + 2 * base::kNsPerSecond) ||
        hello.magic != kMagic) {
      continue;
    }
    const bool same = hello.job == job && hello.world == rank.world;
    const Answer answer = same ? Answer::kWelcome : Answer::kOtherJob;
    WriteAll(peer.get(), &answer, sizeof answer);
    if (!same)
      throw Failure("rank " + std::to_string(hello.rank) + " was started with other flags or WORLD_SIZE", 2);
    peers.insert_or_assign(hello.rank, std::move(peer));
  }
  for (const auto& [number, peer] : peers) WriteAll(peer.get(), bytes.data(), bytes.size());
}

}  // namespace

void ShareFromRankZero(const Rank& rank, std::uint64_t job, std::span<char> bytes, std::int64_t timeout) {
  const std::int64_t deadline = base::MonotonicNs() + timeout;
  if (rank.rank == 0) {
    if (rank.world > 1) Serve(rank, job, bytes, deadline);
    return;
  }
  const UniqueFd fd = ConnectToMaster(rank, deadline);
  const Hello hello{kMagic, job, rank.rank, rank.world};
  Answer answer{};
  if (!WriteAll(fd.get(), &hello, sizeof hello) || !ReadAll(fd.get(), &answer, sizeof answer, deadline)) {
    throw Failure("rank 0 at " + Endpoint(rank) + " ended the connection, or did not answer in time");
  }
  if (answer != Answer::kWelcome)
    throw Failure("this rank was started with other flags or another WORLD_SIZE than rank 0", 2);
  if (!ReadAll(fd.get(), bytes.data(), bytes.size(), deadline)) {
    throw Failure("rank 0 at " + Endpoint(rank) + " ended the connection, or not all ranks came in time");
  }
}

}  // namespace crossover::trainer

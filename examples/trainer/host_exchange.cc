#include "examples/trainer/host_exchange.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <utility>

#include "examples/trainer/failure.h"
#include "examples/trainer/rendezvous.h"

namespace crossover::trainer {
namespace {

constexpr std::int64_t kPatience = 120 * base::kNsPerSecond;

void ReadAll(int fd, void* data, std::size_t size) {
  auto* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t got = recv(fd, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw RankLost("gradients: the connection to a rank has ended");
    at += got;
    size -= static_cast<std::size_t>(got);
  }
}

void WriteAll(int fd, const void* data, std::size_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) throw RankLost("gradients: the connection to a rank has ended");
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

// Makes calls on `fd` block, and makes it send data at once.
void Prepare(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
}

std::uint16_t PortOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw Failure(std::string("gradients: getsockname: ") + std::strerror(errno));
  }
  const bool v6 = address.ss_family == AF_INET6;
  return ntohs(v6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                  : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

}  // namespace

HostExchange::HostExchange(const Rank& rank, std::uint64_t job,
                           std::chrono::duration<double, std::milli> least)
    : least_(least), adds_(rank.rank == 0) {
  Rank at = rank;
  at.master_port = 0;
  if (adds_) {
    listener_ = ListenAsMaster(at);
    at.master_port = PortOf(listener_.get());
  }
  ShareFromRankZero(rank, job, std::span(reinterpret_cast<char*>(&at.master_port), sizeof at.master_port));
  if (adds_) {
    Gather(rank.world);
    return;
  }
  peers_.push_back(ConnectToMaster(at, base::MonotonicNs() + kPatience));
  Prepare(peers_[0].get());
  WriteAll(peers_[0].get(), &rank.rank, sizeof rank.rank);
}

void HostExchange::Gather(std::uint32_t world) {
  peers_.resize(world - 1);
  for (std::uint32_t come = 1; come < world; ++come) {
    base::UniqueFd peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!peer) throw Failure(std::string("gradients: accept: ") + std::strerror(errno));
    std::uint32_t rank = 0;
    ReadAll(peer.get(), &rank, sizeof rank);
    if (rank == 0 || rank >= world)
      throw Failure("gradients: expected a rank from 1 to " + std::to_string(world - 1) + ", got " +
                    std::to_string(rank));
    Prepare(peer.get());
    peers_[rank - 1] = std::move(peer);
  }
}

void HostExchange::Sum(std::span<float> values) {
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration_cast<std::chrono::steady_clock::duration>(least_);
  const std::size_t bytes = values.size_bytes();
  if (adds_) {
    received_.resize(values.size());
    for (const base::UniqueFd& peer : peers_) {
      ReadAll(peer.get(), received_.data(), bytes);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += received_[i];
    }
    for (const base::UniqueFd& peer : peers_) WriteAll(peer.get(), values.data(), bytes);
  } else {
    WriteAll(peers_[0].get(), values.data(), bytes);
    ReadAll(peers_[0].get(), values.data(), bytes);
  }
  std::this_thread::sleep_until(end);
}

void HostExchange::Abort() {
  for (const base::UniqueFd& peer : peers_) shutdown(peer.get(), SHUT_RDWR);
}

}  // namespace crossover::trainer

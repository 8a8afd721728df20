#include "simgpu/nccl/socket.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace simgpu::nccl {

namespace {

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
};

Address ToSocketAddress(const Endpoint& endpoint) {
  Address address;
  if (endpoint.family == 4) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&address.storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(static_cast<std::uint16_t>(endpoint.port));
    std::memcpy(&v4->sin_addr, endpoint.address, sizeof v4->sin_addr);
    address.size = sizeof *v4;
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&address.storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(static_cast<std::uint16_t>(endpoint.port));
    std::memcpy(&v6->sin6_addr, endpoint.address, sizeof v6->sin6_addr);
    address.size = sizeof *v6;
  }
  return address;
}

const sockaddr* Generic(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.storage);
}

std::string Errno(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

void SendWithoutDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Waits until `fd` is ready for `events`. Returns false, with the reason in *error, when cancelled or too
// late.
bool Wait(int fd, short events, const Cancel& cancel, std::string* error, int timeout_ms = -1) {
  pollfd fds[2] = {{fd, events, 0}, {cancel.fd(), POLLIN, 0}};
  for (;;) {
    const int ready = poll(fds, 2, timeout_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      *error = "no answer";
      return false;
    }
    if (ready < 0) {
      *error = Errno("poll");
      return false;
    }
    if ((fds[1].revents & POLLIN) != 0) {
      *error = "aborted";
      return false;
    }
    if (fds[0].revents != 0) return true;
  }
}

}  // namespace

UniqueFd Listen(Endpoint* where, std::string* error) {
  Address address = ToSocketAddress(*where);
  UniqueFd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd || bind(fd.get(), Generic(address), address.size) != 0 || listen(fd.get(), SOMAXCONN) != 0 ||
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.size) != 0) {
    *error = Errno(("cannot listen at " + ToText(*where)).c_str());
    return {};
  }
  // Both address families keep the port at the same place.
  where->port = ntohs(reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
  return fd;
}

UniqueFd Connect(const Endpoint& where, const Cancel& cancel, std::string* error) {
  const Address address = ToSocketAddress(where);
  UniqueFd fd(socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  std::string reason;
  bool connected = false;
  if (fd && connect(fd.get(), Generic(address), address.size) == 0) {
    connected = true;
  } else if (fd && errno == EINPROGRESS && Wait(fd.get(), POLLOUT, cancel, &reason)) {
    int result = 0;
    socklen_t size = sizeof result;
    getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &result, &size);
    errno = result;
    connected = result == 0;
  }
  if (!connected) {
    *error = "cannot connect to " + ToText(where) + ": " + (reason.empty() ? std::strerror(errno) : reason);
    return {};
  }
  SendWithoutDelay(fd.get());
  return fd;
}

UniqueFd Accept(int listener, const Cancel& cancel, std::string* error) {
  for (;;) {
    UniqueFd fd(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) {
      SendWithoutDelay(fd.get());
      return fd;
    }
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      *error = Errno("accept");
      return {};
    }
    if (!Wait(listener, POLLIN, cancel, error)) return {};
  }
}

bool SendAll(int fd, std::span<const std::byte> bytes, const Cancel& cancel, std::string* error) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (!Wait(fd, POLLOUT, cancel, error)) return false;
    } else if (errno != EINTR) {
      *error = Errno("send");
      return false;
    }
  }
  return true;
}

std::optional<FrameReader::Frame> ReceiveFrame(int fd, FrameReader& reader, Kind kind, const Cancel& cancel,
                                               std::string* error, int timeout_ms) {
  for (;;) {
    if (const auto frame = reader.Next()) {
      if (frame->header.kind == kind) return frame;
      const auto failure = frame->header.kind == Kind::kError ? DecodeError(frame->payload) : std::nullopt;
      *error = failure ? failure->text : "unexpected message";
      return std::nullopt;
    }
    if (reader.broken()) {
      *error = "garbled message";
      return std::nullopt;
    }
    const auto space = reader.Space();
    const ssize_t got = recv(fd, space.data(), space.size(), 0);
    if (got > 0) {
      reader.Received(static_cast<std::size_t>(got));
    } else if (got == 0) {
      *error = "connection closed by the other side";
      return std::nullopt;
    } else if (errno == EAGAIN) {
      if (!Wait(fd, POLLIN, cancel, error, timeout_ms)) return std::nullopt;
    } else if (errno != EINTR) {
      *error = Errno("recv");
      return std::nullopt;
    }
  }
}

std::string ToText(const Endpoint& endpoint) {
  char text[INET6_ADDRSTRLEN] = "?";
  inet_ntop(endpoint.family == 4 ? AF_INET : AF_INET6, endpoint.address, text, sizeof text);
  const std::string host = endpoint.family == 4 ? std::string(text) : "[" + std::string(text) + "]";
  return host + ":" + std::to_string(endpoint.port);
}

}  // namespace simgpu::nccl

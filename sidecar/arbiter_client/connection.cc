#include "sidecar/arbiter_client/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "sidecar/arbiter_client/arbiter_messages.h"
#include "sidecar/arbiter_client/page.h"
#include "sidecar/log/log.h"

namespace crossover::arbiter_client {
namespace {

constexpr std::int64_t kAnswerTimeoutMs = 2000;

// Reads a message. Never blocks, even if none is there: since the poll, the program may have read it, or may
// have put a file of its own in the place of our socket. If several descriptors came along, closes them all:
// otherwise each message could leave some open in this process.
Received Receive(int socket) {
  Received received;
  int descriptors = 0;
  const auto take = [&](int fd) {
    received.fd = OwnFd(fd);  // closes the one before
    ++descriptors;
  };
  // With MSG_TRUNC the size is that of the whole message, even if it does not fit.
  const ssize_t bytes = base::ReceiveWithDescriptors(socket, &received.message, sizeof received.message,
                                                     MSG_TRUNC | MSG_DONTWAIT, take)
                            .size;
  if (bytes < 0) {
    received.error = errno;
    return received;
  }
  if (descriptors > 1) received.fd.Reset();
  received.kind = Read(&received.message, static_cast<std::size_t>(bytes));
  return received;
}

// Moves `fd` to a high number, which programs seldom use. Programs close or reuse low numbers one after the
// other, without a check of who owns them. Returns `fd` unchanged if no high number is free.
int OutOfTheWay(int fd) {
  constexpr int kLeast = 900;  // below the usual limit of 1024
  const int high = fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, kLeast);
  if (high < 0) return fd;
  ::close(fd);
  return high;
}

// Returns a socket that is connected to `path`, or none. `flags` are more flags of the socket.
OwnFd ConnectTo(const char* path, int flags) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = strlen(path);
  if (length >= sizeof address.sun_path) return OwnFd();
  memcpy(address.sun_path, path, length + 1);
  OwnFd fd(OutOfTheWay(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0)));
  const bool connected =
      fd && ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return connected ? static_cast<OwnFd&&>(fd) : OwnFd();
}

// Waits until a message has come, or the connection has ended. Returns false if neither happens before
// `deadline`, in ns of CLOCK_MONOTONIC. A signal that interrupts the wait does not end it.
bool AwaitReadable(int socket, std::int64_t deadline) {
  while (true) {
    pollfd readable{socket, POLLIN, 0};
    const std::int64_t left_ms = (deadline - base::MonotonicNs()) / base::kNsPerMs;
    const int ready = left_ms <= 0 ? 0 : ::poll(&readable, 1, static_cast<int>(left_ms));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0;
  }
}

}  // namespace

bool Connection::Connect(const char* path) {
  fd_ = ConnectTo(path, 0);
  return static_cast<bool>(fd_);
}

Limit AskForLimit(const char* path, std::int64_t timeout_ns) {
  const crossover_header ask = MakeHeader(CROSSOVER_ASK, sizeof ask);
  const std::int64_t deadline = base::MonotonicNs() + timeout_ns;
  const OwnFd fd = ConnectTo(path, SOCK_NONBLOCK);
  if (!fd || ::send(fd.get(), &ask, sizeof ask, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof ask)) return {};
  while (AwaitReadable(fd.get(), deadline)) {
    const Received received = Receive(fd.get());
    const Message& message = received.message;
    if (received.error == EINTR || received.error == EAGAIN) continue;
    switch (received.kind) {
      case MessageKind::kLimit:
        return {message.limit.known != 0, std::uint64_t{message.limit.memory_mib} << 20};
      case MessageKind::kUnknown:
      case MessageKind::kNotice:
      case MessageKind::kOffer:
      case MessageKind::kProven:
        break;
      case MessageKind::kBroken:
      case MessageKind::kMalformed:
      case MessageKind::kRefused:
      case MessageKind::kWelcome:
        return {};
    }
  }
  return {};
}

bool Connection::Join(const crossover_hello& hello, Membership* membership, char* reason,
                      std::size_t reason_bytes) {
  const auto refuse = [&](const char* why) {
    snprintf(reason, reason_bytes, "%s", why);
    return false;
  };
  if (::send(fd_.get(), &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello)) {
    return refuse("the arbiter closed the connection");
  }
  const auto map = [&](int turnstile, const crossover_welcome& welcome) {
    const char* why = "";
    crossover_page* page = MapPage(turnstile, &why);
    if (page == nullptr) return refuse(why);
    *membership = {page, welcome.slot, welcome.memory_mib};
    return true;
  };
  const std::int64_t deadline = base::MonotonicNs() + kAnswerTimeoutMs * base::kNsPerMs;
  while (true) {
    if (!AwaitReadable(fd_.get(), deadline)) return refuse("the arbiter does not answer");
    const Received received = Receive(fd_.get());
    const Message& message = received.message;
    if (received.error == EINTR || received.error == EAGAIN) continue;
    switch (received.kind) {
      case MessageKind::kBroken:
        return refuse("the arbiter closed the connection or is of another version");
      case MessageKind::kMalformed:
        return refuse("the arbiter's welcome is malformed: arbiter and library may be of different versions");
      case MessageKind::kRefused:
        return refuse(message.refused.reason);
      case MessageKind::kWelcome:
        if (!received.fd)
          return refuse(
              "the arbiter's welcome is malformed: it brings no turnstile; this process may have no file "
              "descriptor left, or arbiter and library are of different versions");
        return map(received.fd.get(), message.welcome);
      case MessageKind::kUnknown:
      case MessageKind::kNotice:
      case MessageKind::kLimit:
      case MessageKind::kOffer:
      case MessageKind::kProven:
        break;
    }
  }
}

bool Connection::AwaitEnd(int timeout_us, Received* received) {
  *received = {};
  received->kind = MessageKind::kUnknown;
  pollfd readable{fd_.get(), POLLIN, 0};
  if (readable.fd < 0) return true;
  const timespec timeout{timeout_us / 1'000'000, timeout_us % 1'000'000 * 1000L};
  if (::ppoll(&readable, 1, &timeout, nullptr) <= 0) return false;
  const int own = fd_.get();  // the number may have changed hands during the wait
  if (own < 0) return true;
  *received = Receive(own);
  if (received->error != 0) return received->error != EAGAIN && received->error != EINTR;
  if (received->kind == MessageKind::kNotice)
    log::Write(log::Level::kWarn, "%s", received->message.notice.text);
  return received->kind == MessageKind::kBroken || received->kind == MessageKind::kMalformed;
}

void Connection::Send(const crossover_header* message) {
  [[maybe_unused]] const ssize_t ignored =
      ::send(fd_.get(), message, message->bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace crossover::arbiter_client

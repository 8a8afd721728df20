#include "sidecar/link/connection.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>

#include "sidecar/link/page.h"
#include "sidecar/log/log.h"

namespace crossover::link {
namespace {

constexpr int kAnswerTimeoutMs = 2000;

union Message {
  crossover_header header;
  crossover_welcome welcome;
  crossover_refused refused;
  crossover_notice notice;
  char bytes[1024];
};

struct Received {
  ssize_t bytes = 0;
  base::UniqueFd fd;  // of the one descriptor that may come along
};

Received Receive(int socket, Message* message) {
  Received received;
  iovec part{message, sizeof *message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr request{};
  request.msg_iov = &part;
  request.msg_iovlen = 1;
  request.msg_control = control;
  request.msg_controllen = sizeof control;
  received.bytes = ::recvmsg(socket, &request, MSG_CMSG_CLOEXEC);
  if (received.bytes <= 0) return received;
  cmsghdr* head = CMSG_FIRSTHDR(&request);
  if (head != nullptr && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
      head->cmsg_len == CMSG_LEN(sizeof(int))) {
    int fd = -1;
    memcpy(&fd, CMSG_DATA(head), sizeof fd);
    received.fd.Reset(fd);
  }
  return received;
}

// One message that is whole and of our version; -1 on anything else.
bool Valid(const Received& received, const Message& message) {
  return received.bytes >= static_cast<ssize_t>(sizeof(crossover_header)) &&
         message.header.bytes == static_cast<std::uint32_t>(received.bytes) &&
         message.header.version == CROSSOVER_PROTOCOL_VERSION;
}

}  // namespace

crossover_header MakeHeader(crossover_message type, std::size_t bytes) {
  return {static_cast<std::uint32_t>(type), static_cast<std::uint32_t>(bytes), CROSSOVER_PROTOCOL_VERSION, 0};
}

bool Connection::Connect(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t length = strlen(path);
  if (length >= sizeof address.sun_path) return false;
  memcpy(address.sun_path, path, length + 1);
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return false;
  }
  fd_ = static_cast<base::UniqueFd&&>(fd);
  return true;
}

bool Connection::Join(const crossover_hello& hello, Membership* membership, char* reason,
                      std::size_t reason_bytes) {
  const auto refuse = [&](const char* why) {
    snprintf(reason, reason_bytes, "%s", why);
    return false;
  };
  if (::send(fd(), &hello, sizeof hello, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof hello)) {
    return refuse("the arbiter closed the connection");
  }
  while (true) {
    pollfd readable{fd(), POLLIN, 0};
    const int ready = ::poll(&readable, 1, kAnswerTimeoutMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return refuse("the arbiter does not answer");
    Message message{};
    const Received received = Receive(fd(), &message);
    if (!Valid(received, message))
      return refuse("the arbiter closed the connection or is of another version");
    if (message.header.type == CROSSOVER_REFUSED && message.header.bytes == sizeof message.refused) {
      message.refused.reason[CROSSOVER_REASON_MAX - 1] = '\0';
      return refuse(message.refused.reason);
    }
    if (message.header.type != CROSSOVER_WELCOME) continue;
    if (message.header.bytes != sizeof message.welcome || message.welcome.slot >= CROSSOVER_MAX_CLIENTS ||
        !received.fd) {
      return refuse("the arbiter's welcome is malformed");
    }
    const char* why = "";
    crossover_page* page = MapPage(received.fd.get(), &why);
    if (page == nullptr) return refuse(why);
    *membership = {page, message.welcome.slot};
    return true;
  }
}

bool Connection::AwaitEnd(int timeout_us) {
  pollfd readable{fd(), POLLIN, 0};
  const timespec timeout{timeout_us / 1'000'000, timeout_us % 1'000'000 * 1000L};
  if (::ppoll(&readable, 1, &timeout, nullptr) <= 0) return false;
  Message message;
  const Received received = Receive(fd(), &message);
  if (received.bytes < 0) return errno != EAGAIN && errno != EINTR;
  if (!Valid(received, message)) return true;
  if (message.header.type == CROSSOVER_NOTICE && message.header.bytes == sizeof message.notice) {
    message.notice.text[sizeof message.notice.text - 1] = '\0';
    log::Write(log::Level::kWarn, "%s", message.notice.text);
  }
  return false;
}

void Connection::Send(const crossover_profile& profile) {
  [[maybe_unused]] const ssize_t ignored =
      ::send(fd(), &profile, sizeof profile, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace crossover::link

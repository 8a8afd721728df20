// Sends and takes file descriptors beside a message over a Unix socket.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

namespace crossover::base {

// One message carries at most this many descriptors.
inline constexpr std::size_t kMostDescriptors = 4;

// Sends `size` bytes as one message, with duplicates of `fds`; the caller keeps ownership of `fds`. `flags`
// are those of sendmsg(2). Returns what sendmsg(2) returns, or -1 with errno EINVAL if there are more
// than kMostDescriptors.
inline ssize_t SendWithDescriptors(int socket, const void* bytes, std::size_t size, std::span<const int> fds,
                                   int flags) {
  if (fds.size() > kMostDescriptors) {
    errno = EINVAL;
    return -1;
  }
  iovec part{const_cast<void*>(bytes), size};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size_bytes());
  }
  return ::sendmsg(socket, &message, flags);
}

// An Arrival is what recvmsg(2) says of one message.
struct Arrival {
  ssize_t size = -1;  // what recvmsg(2) returned; if it is -1, errno says why
  bool cut = false;   // the message or its descriptors did not fit
};

template <class Take>
void TakeDescriptors(msghdr* message, Take take) {
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      take(fd);
    }
  }
}

// Receives one message of at most `room` bytes. Calls `take` with each descriptor that came with the message,
// at most kMostDescriptors; `take` then owns the descriptor. `flags` are those of recvmsg(2), and
// MSG_CMSG_CLOEXEC is added. Returns what recvmsg(2) says of the message.
template <class Take>
Arrival ReceiveWithDescriptors(int socket, void* bytes, std::size_t room, int flags, Take take) {
  iovec part{bytes, room};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
  if (size >= 0) TakeDescriptors(&message, take);
  return {size, (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0};
}

}  // namespace crossover::base

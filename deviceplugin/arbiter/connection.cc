#include "deviceplugin/arbiter/connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <span>

#include "common/base/descriptors.h"

namespace crossover::arbiter {
namespace {

// Sends `wire` without blocking. A message that the peer does not take is dropped.
template <class Wire>
void SendIfTaken(int socket, const Wire& wire) {
  [[maybe_unused]] const ssize_t sent = send(socket, &wire, sizeof(wire), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

Connection::Received Connection::Receive(turn::Time now) {
  std::array<std::byte, kLongestMessage> buffer;
  iovec part{.iov_base = buffer.data(), .iov_len = buffer.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  // The message has no room for control data, so the kernel drops descriptors that a client sends along.
  const ssize_t size = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Nothing{};
  if (size <= 0) return EndOfStream{};
  if (!rate_.Allow(now))
    return Message(Broken{"too many messages: expected at most 100 per second, got more"});
  if ((header.msg_flags & MSG_TRUNC) != 0)
    return Message(Broken{"message: size: expected at most " + std::to_string(kLongestMessage) +
                          ", got more: the library may be of a later version"});
  return Parse(std::span(buffer).first(static_cast<std::size_t>(size)));
}

bool Connection::SendWelcome(std::uint32_t slot, std::uint32_t memory_mib, int page_fd) {
  const crossover_welcome wire = MakeWelcome(slot, memory_mib);
  const ssize_t sent = base::SendWithDescriptors(socket_.get(), &wire, sizeof(wire), std::span(&page_fd, 1),
                                                 MSG_DONTWAIT | MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(sizeof(wire));
}

void Connection::SendLimit(std::optional<std::uint32_t> memory_mib) {
  // A process that gets no answer asks again.
  SendIfTaken(socket_.get(), MakeLimit(memory_mib));
}

void Connection::SendRefused(std::string_view reason) {
  // A client that does not read this learns of the refusal from the end of file.
  SendIfTaken(socket_.get(), MakeRefused(reason));
}

void Connection::SendNotice(std::string_view text) {
  // The same text is in the daemon's log, so losing the message is safe.
  SendIfTaken(socket_.get(), MakeNotice(text));
}

void Connection::Send(std::span<const std::byte> message, int fd) {
  [[maybe_unused]] const ssize_t sent =
      base::SendWithDescriptors(socket_.get(), message.data(), message.size(), std::span(&fd, fd < 0 ? 0 : 1),
                                MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace crossover::arbiter

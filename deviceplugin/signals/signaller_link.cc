#include "deviceplugin/signals/signaller_link.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "common/base/descriptors.h"

namespace crossover::signals {

std::optional<SignallerLink::Received> SignallerLink::Receive() {
  std::array<std::byte, kLongestMessage> bytes;
  iovec part{bytes.data(), bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(base::kMostDescriptors * sizeof(int))];
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t size = recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  ended_ = size <= 0;
  if (ended_) return std::nullopt;
  Received received;
  base::TakeDescriptors(&header, [&received](int fd) { received.descriptors.emplace_back(fd); });
  const bool cut = (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  received.message = cut ? SignallerMessage(Unknown{})
                         : ParseSignaller(std::span(bytes).first(static_cast<std::size_t>(size)),
                                          received.descriptors.size());
  return received;
}

bool SignallerLink::SendFollow(int page, int kept, std::uint32_t area) {
  const crossover_follow wire = MakeFollow(kept >= 0, area);
  const std::array fds{page, kept};
  return base::SendWithDescriptors(socket_.get(), &wire, sizeof wire, std::span(fds).first(kept >= 0 ? 2 : 1),
                                   MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof wire;
}

bool SignallerLink::SendProve(const crossover_proof& proof) {
  return send(socket_.get(), &proof, sizeof proof, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof proof;
}

}  // namespace crossover::signals

#include "deviceplugin/signals/signaller_link.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "common/base/descriptors.h"

namespace crossover::signals {

std::optional<SignallerLink::Received> SignallerLink::Receive() {
  std::array<std::byte, kLongestMessage> bytes;
  Received received;
  const auto [size, cut] =
      base::ReceiveWithDescriptors(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT,
                                   [&received](int fd) { received.descriptors.emplace_back(fd); });
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  ended_ = size <= 0;
  if (ended_) return std::nullopt;
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

bool SignallerLink::SendRest(bool rest) {
  const crossover_rest wire = MakeRest(rest);
  return send(socket_.get(), &wire, sizeof wire, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof wire;
}

}  // namespace crossover::signals

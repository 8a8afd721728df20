#include "deviceplugin/signaller/link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/base/clock.h"
#include "common/base/descriptors.h"
#include "common/base/refusal.h"
#include "deviceplugin/arbiter/client_messages.h"

namespace crossover::signaller {

bool Link::Connect(const std::string& path, const std::string& gpu_uuid, bool rests, std::string* error) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    *error = base::Refusal("socket path", "at most 107 bytes", std::to_string(path.size()));
    return false;
  }
  path.copy(address.sun_path, path.size());
  base::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    *error = "the signaller cannot connect to " + path + ": " + std::strerror(errno);
    return false;
  }
  const crossover_signaller_hello hello = MakeHello(gpu_uuid, rests);
  if (send(fd.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello) {
    *error = "the signaller cannot send hello to the arbiter at " + path + ": " + std::strerror(errno);
    return false;
  }
  fd_ = std::move(fd);
  return true;
}

void Link::Wait(turn::Time longest) const {
  pollfd readable{fd_.get(), POLLIN, 0};
  poll(&readable, fd_ ? 1 : 0, static_cast<int>(longest / base::kNsPerMs));
}

LinkState Link::Receive(std::size_t memory_bytes, Received* received) {
  if (!fd_) return LinkState::kNothing;
  std::array<std::byte, kLongestMessage> bytes;
  received->descriptors.clear();
  const auto [size, cut] =
      base::ReceiveWithDescriptors(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT,
                                   [received](int fd) { received->descriptors.emplace_back(fd); });
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return LinkState::kNothing;
  if (size <= 0) {
    Close();
    return LinkState::kEnded;
  }
  received->message = cut ? Message(Unknown{})
                          : Parse(std::span(bytes).first(static_cast<std::size_t>(size)),
                                  received->descriptors.size(), memory_bytes);
  return LinkState::kMessage;
}

bool Link::SendSignals(std::uint32_t area, std::size_t memory_bytes, int memory_fd) {
  const crossover_signals wire = MakeSignals(area, memory_bytes);
  const std::array fds{memory_fd};
  if (base::SendWithDescriptors(fd_.get(), &wire, sizeof wire, fds, MSG_NOSIGNAL) == sizeof wire) return true;
  Close();
  return false;
}

bool Link::Send(const void* bytes, std::size_t size) {
  if (send(fd_.get(), bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size)) return true;
  Close();
  return false;
}

bool Link::SendProven(const Prove& prove, bool written) {
  const crossover_proof wire = MakeProven(prove, written);
  return Send(&wire, sizeof wire);
}

bool Link::SendRefused(const std::string& reason) {
  const crossover_refused wire = arbiter::MakeRefused(reason);
  return Send(&wire, sizeof wire);
}

}  // namespace crossover::signaller

#include "deviceplugin/rpc/unix_acceptor.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "common/base/refusal.h"
#include "common/logging/log.h"
#include "deviceplugin/arbiter/peer.h"

namespace crossover::deviceplugin {
namespace {

constexpr mode_t kOwnerOnly = 0600;
constexpr int kOutOfDescriptorsMs = 100;

}  // namespace

UnixAcceptor::~UnixAcceptor() { Close(); }

bool UnixAcceptor::Open(const std::string& path, std::string* error) {
  stop_.Reset(eventfd(0, EFD_CLOEXEC));
  if (!stop_) {
    *error = base::Refusal("api.socket", "a free file descriptor", "none");
    return false;
  }
  if (listener_.Open({.path = path, .mode = kOwnerOnly, .group = {}}, error, SOCK_STREAM)) return true;
  *error = "api.socket: " + *error;
  return false;
}

void UnixAcceptor::Accept(OnConnection on_connection) {
  on_connection_ = std::move(on_connection);
  thread_ = std::thread([this] { Run(); });
}

void UnixAcceptor::Close() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(stop_.get(), &one, sizeof(one));
  thread_.join();
  listener_.Close();
}

void UnixAcceptor::HangUp() {
  for (const base::UniqueFd& socket : open_) shutdown(socket.get(), SHUT_RDWR);
  open_.clear();
}

void UnixAcceptor::Run() {
  prctl(PR_SET_NAME, "xo-api-door");
  for (;;) {
    std::vector<pollfd> watched = {{.fd = stop_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = listener_.fd(), .events = POLLIN, .revents = 0}};
    // No events are requested: poll reports the end of a connection anyway.
    for (const base::UniqueFd& socket : open_) {
      watched.push_back({.fd = socket.get(), .events = 0, .revents = 0});
    }
    if (poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;
    for (std::size_t i = open_.size(); i-- > 0;) {
      if (watched[i + 2].revents != 0) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (watched[1].revents != 0) Admit();
  }
}

void UnixAcceptor::Admit() {
  base::UniqueFd socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    if (errno == EMFILE || errno == ENFILE) poll(nullptr, 0, kOutOfDescriptorsMs);
    return;
  }
  if (!Welcome(socket.get())) return;
  base::UniqueFd second(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!second) return;
  open_.push_back(std::move(second));
  on_connection_(std::move(socket));
}

bool UnixAcceptor::Welcome(int socket) const {
  const auto peer = arbiter::IdentifyPeer(socket);
  if (!peer || !MayEnter(peer->uid, geteuid())) {
    logging::Warn(
        base::Refusal("api.socket: connection", "one of root or of the daemon's user",
                      peer ? "one of user " + std::to_string(peer->uid) : "one of an unknown user"));
    return false;
  }
  if (open_.size() < kMostConnections) return true;
  logging::Warn(
      base::Refusal("api.socket: connections", "at most " + std::to_string(kMostConnections), "one more"));
  return false;
}

}  // namespace crossover::deviceplugin

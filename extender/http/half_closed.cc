#include "extender/http/half_closed.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "common/base/fd.h"
#include "common/base/own_sockets.h"

namespace crossover::extender {
namespace {

// Returns whether `fd` is a TCP connection whose client has ended its side.
bool IsHalfClosed(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 && info.tcpi_state == TCP_CLOSE_WAIT;
}

}  // namespace

int ReportEndsAgain(int port) {
  int found = 0;
  for (const int number : base::OwnDescriptors()) {
    // A duplicate stays the same connection, also if the SDK closes its own meanwhile and the kernel gives
    // that number to something else.
    const base::UniqueFd fd(::fcntl(number, F_DUPFD_CLOEXEC, 0));
    if (!fd || !IsHalfClosed(fd.get()) || base::LocalPort(fd.get()) != port) continue;
    ::shutdown(fd.get(), SHUT_RD);
    ++found;
  }
  return found;
}

HalfClosedWatch::HalfClosedWatch(int port, std::chrono::milliseconds period)
    : thread_([this, port, period](const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (!stop.stop_requested()) {
          change_.wait_for(lock, stop, period, [] { return false; });
          if (!stop.stop_requested()) ReportEndsAgain(port);
        }
      }) {}

}  // namespace crossover::extender

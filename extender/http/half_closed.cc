#include "extender/http/half_closed.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <system_error>

#include "common/base/fd.h"

namespace crossover::extender {
namespace {

// Returns the local port of the TCP connection `fd`, or -1 if `fd` is something else or its client has not
// ended its side.
int PortOfHalfClosed(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || info.tcpi_state != TCP_CLOSE_WAIT)
    return -1;
  sockaddr_storage local{};
  size = sizeof local;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) != 0) return -1;
  if (local.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(local).sin_port);
  if (local.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(local).sin6_port);
  return -1;
}

}  // namespace

int ReportEndsAgain(int port) {
  int found = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int number = -1;
    std::from_chars(name.data(), name.data() + name.size(), number);
    // A duplicate stays the same connection, also where the SDK closes its own meanwhile and the kernel gives
    // that number to something else.
    const base::UniqueFd fd(::fcntl(number, F_DUPFD_CLOEXEC, 0));
    if (!fd || PortOfHalfClosed(fd.get()) != port) continue;
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

#include "deviceplugin/metrics/other_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace crossover::deviceplugin {
namespace {

bool Listens(int fd) {
  int listens = 0;
  socklen_t size = sizeof listens;
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

}  // namespace

base::UniqueFd ListenOnAllAddresses(std::uint16_t port) {
  base::UniqueFd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in6 all{};
  all.sin6_family = AF_INET6;
  all.sin6_addr = in6addr_any;
  all.sin6_port = htons(port);
  const int on = 1, off = 0;
  const bool listens = fd && ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
                       ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
                       ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&all), sizeof all) == 0 &&
                       ::listen(fd.get(), SOMAXCONN) == 0;
  return listens ? std::move(fd) : base::UniqueFd();
}

std::uint16_t PortOf(int fd) {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) != 0) return 0;
  if (local.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(local).sin_port);
  if (local.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(local).sin6_port);
  return 0;
}

bool TakeOver(std::uint16_t port, base::UniqueFd socket) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    if (fd == socket.get() || PortOf(fd) != port || !Listens(fd)) continue;
    return ::dup3(socket.get(), fd, O_CLOEXEC) >= 0;
  }
  return false;
}

}  // namespace crossover::deviceplugin

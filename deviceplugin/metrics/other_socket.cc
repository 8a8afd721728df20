#include "deviceplugin/metrics/other_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "common/base/own_sockets.h"

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

bool TakeOver(std::uint16_t port, base::UniqueFd socket) {
  for (const int fd : base::OwnDescriptors()) {
    if (fd == socket.get() || base::LocalPort(fd) != port || !Listens(fd)) continue;
    return ::dup3(socket.get(), fd, O_CLOEXEC) >= 0;
  }
  return false;
}

}  // namespace crossover::deviceplugin

// Finds sockets among the open descriptors of this process, for libraries that do not show theirs.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace crossover::base {

// Returns the local port of a socket of IPv4 or IPv6, or 0 if `fd` is none.
inline std::uint16_t LocalPort(int fd) {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&local), &size) != 0) return 0;
  if (local.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(local).sin_port);
  if (local.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(local).sin6_port);
  return 0;
}

// Returns the numbers of the descriptors that are open now. Other threads may close some at any time.
inline std::vector<int> OwnDescriptors() {
  std::vector<int> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string name = entry.path().filename();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    found.push_back(fd);
  }
  return found;
}

}  // namespace crossover::base

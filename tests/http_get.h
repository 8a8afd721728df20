// Sends one request to a server of this machine, over a connection of its own.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "common/base/fd.h"

namespace crossover::test {

// Returns the whole answer, its head included, or what went wrong if there is none.
inline std::string HttpGet(int port, const std::string& path, bool by_ipv6 = false) {
  const base::UniqueFd fd(::socket(by_ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(static_cast<std::uint16_t>(port));
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = v4.sin_port;
  v6.sin6_addr = in6addr_loopback;
  const auto* address = by_ipv6 ? reinterpret_cast<sockaddr*>(&v6) : reinterpret_cast<sockaddr*>(&v4);
  if (connect(fd.get(), address, by_ipv6 ? sizeof v6 : sizeof v4) != 0) return "no connection";
  const std::string request = "GET " + path + " HTTP/1.0\r\n\r\n";
  if (write(fd.get(), request.data(), request.size()) < 0) return "no request";
  std::string answer;
  char buffer[4096];
  for (ssize_t size; (size = read(fd.get(), buffer, sizeof buffer)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(size));
  return answer;
}

}  // namespace crossover::test

// Lets a server listen on all addresses of its machine, of IPv4 and of IPv6.
//
// A socket of IPv6 that listens on :: takes connections of both families, unless it is set to IPv6 alone. A
// kernel that was started without IPv6 has no such sockets.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <string_view>

#include "common/base/fd.h"

namespace crossover::base {

// Stands for all addresses of both families if a setting has address:port.
inline constexpr std::string_view kAllAddresses = "[::]";

// Returns whether this kernel has sockets of IPv6. A machine may have them and no address of IPv6.
inline bool HasIpv6() {
  return static_cast<bool>(UniqueFd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)));
}

}  // namespace crossover::base

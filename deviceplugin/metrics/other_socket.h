// Makes a running civetweb listen on a socket of ours.
//
// Debian builds civetweb without IPv6. Before each wait civetweb reads the number of its listening socket
// anew, and it accepts by that number. So another socket may take the number over. Thread-safe.
#pragma once

#include <cstdint>

#include "common/base/fd.h"

namespace crossover::deviceplugin {

// Returns a socket that listens at `port`, or at a free one for 0, on all addresses of IPv4 and IPv6. Returns
// none if that port is in use, or if this kernel has no IPv6.
base::UniqueFd ListenOnAllAddresses(std::uint16_t port);

// Lets `socket` take over the number of the socket of this process that listens at `port` of 127.0.0.1. That
// one closes. Returns false if there is none.
bool TakeOver(std::uint16_t port, base::UniqueFd socket);

}  // namespace crossover::deviceplugin

// Connects a test to the socket of an arbiter.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <string>

#include "common/base/fd.h"

namespace crossover {

// Returns a connection to the arbiter that listens at `path`. Adds a failure to the test if there is none.
inline base::UniqueFd ConnectToArbiter(const std::string& path) {
  base::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

}  // namespace crossover

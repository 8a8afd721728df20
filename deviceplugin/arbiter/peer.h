// Who is at the other end of a unix socket, as the kernel says.
#pragma once

#include <sys/types.h>

#include <optional>

#include "common/base/fd.h"

namespace crossover::arbiter {

struct Peer {
  pid_t pid = 0;  // 0 when the process is in a namespace that we cannot see
  uid_t uid = 0;
  // Refers to the very process that connected, whatever becomes of its number. Invalid on kernels before 6.5.
  base::UniqueFd pidfd;
};

std::optional<Peer> IdentifyPeer(int socket);

}  // namespace crossover::arbiter

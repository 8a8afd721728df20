// Who is at the other end of a unix socket, as the kernel says.
#pragma once

#include <sys/types.h>

#include <optional>

#include "common/base/fd.h"

namespace crossover::arbiter {

struct Peer {
  pid_t pid = 0;  // 0 when the process is in a namespace that we cannot see
  uid_t uid = 0;
  // Refers to the very process that connected, whatever becomes of its number. Invalid where that cannot be
  // had for certain.
  base::UniqueFd pidfd;
};

std::optional<Peer> IdentifyPeer(int socket);

// Of the process that a connection was made by which has just been accepted, where the kernel tells its
// number alone (before 6.5), and that number may be another's by now. Invalid unless the process was there a
// second ago: one whose number is new would have to have come while the connection waited for us.
base::UniqueFd OpenByNumber(pid_t pid);

}  // namespace crossover::arbiter

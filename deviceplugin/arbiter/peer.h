// Identifies the process at the other end of a unix socket, as the kernel reports it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "common/base/fd.h"

namespace crossover::arbiter {

struct Peer {
  pid_t pid = 0;  // 0 where the process is in a PID namespace that the daemon cannot see
  uid_t uid = 0;
  // Refers to exactly the process that connected, even when its process ID is used again. It is invalid
  // where that cannot be guaranteed.
  base::UniqueFd pidfd;
};

// An Account is what a connection counts against, as the kernel told when the connection was accepted.
struct Account {
  std::string name;  // the pod, or the user where no pod is known
  // UID of the pod that the process is in. It is empty where the process is in no pod, and nothing where
  // that could not be told.
  std::optional<std::string> pod_uid;
};

// Returns the peer of a connected unix socket, or nothing where the kernel does not report its credentials.
std::optional<Peer> IdentifyPeer(int socket);

// Returns a pidfd of process `pid`, which has made a connection that was accepted a moment ago. This is for
// kernels before 6.5, which report only the process ID: another process may have that ID by now. The result
// is invalid unless the process was started more than a second ago. A process that took the ID over would
// have started while the connection waited to be accepted.
base::UniqueFd OpenByNumber(pid_t pid);

}  // namespace crossover::arbiter

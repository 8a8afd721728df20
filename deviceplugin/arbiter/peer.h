// Identifies the process at the other end of a Unix socket, as the kernel reports it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "common/base/fd.h"

namespace crossover::arbiter {

struct Peer {
  pid_t pid = 0;  // 0 if the process is in a PID namespace that the daemon cannot see
  uid_t uid = 0;
  // Refers to exactly the process that connected, even after another process has got its ID. Invalid if the
  // kernel cannot guarantee that.
  base::UniqueFd pidfd;
};

// An Account is the pod or user against whose limit a connection counts. It follows from what the kernel
// reports when the daemon accepts the connection.
struct Account {
  std::string name;  // the pod, or the user if no pod is known
  // Holds the UID of the pod that the process is in. It is empty if the process is in no pod, and unset if
  // the daemon could not find out.
  std::optional<std::string> pod_uid;
};

// Returns the peer of a connected Unix socket, or nothing if the kernel does not report its credentials.
std::optional<Peer> IdentifyPeer(int socket);

// Returns a pidfd of process `pid`, whose connection the daemon has accepted a moment ago. This is for
// kernels before 6.5, which report only the process ID: another process may have that ID by now. Such a
// process would have started while the connection waited to be accepted. So the result is invalid unless the
// process was started more than a second ago.
base::UniqueFd OpenByNumber(pid_t pid);

}  // namespace crossover::arbiter

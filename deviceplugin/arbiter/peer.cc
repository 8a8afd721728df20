#include "deviceplugin/arbiter/peer.h"

#include <sys/socket.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace crossover::arbiter {

std::optional<Peer> IdentifyPeer(int socket) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return std::nullopt;
  Peer peer;
  peer.pid = credentials.pid;
  peer.uid = credentials.uid;
  int pidfd = -1;
  length = sizeof(pidfd);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0) peer.pidfd.Reset(pidfd);
  return peer;
}

}  // namespace crossover::arbiter

// nccl_peer SOCKET [PROFILE] stands for a rank of any job whose rank 0 learns of it by SIMGPU_NCCL_PEERS
// (simgpu/nccl/peers.h). It listens on the Unix socket and serves jobs one after the other, or several
// communicators of one job, until it is killed. PROFILE says what the job computes (profile.h). Without it,
// every call is made at once.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "simgpu/peer/replay.h"

int main(int argc, char** argv) {
  using simgpu::nccl::UniqueFd;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (argc < 2 || argc > 3 || std::strlen(argv[1]) >= sizeof address.sun_path) {
    std::fputs("usage: nccl_peer SOCKET [PROFILE]\n", stderr);
    return 2;
  }
  std::vector<simgpu::peer::Stretch> profile;
  if (argc == 3) {
    std::string error;
    auto read = simgpu::peer::ReadProfile(argv[2], &error);
    if (!read) return std::fprintf(stderr, "nccl_peer: %s\n", error.c_str()), 2;
    profile = std::move(*read);
  }
  std::strcpy(address.sun_path, argv[1]);
  UniqueFd listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  unlink(argv[1]);
  if (!listener || bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener.get(), 16) != 0) {
    std::perror(argv[1]);
    return 1;
  }
  while (true) {
    UniqueFd guest(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!guest) continue;
    std::thread([guest = std::move(guest), profile]() mutable {
      simgpu::peer::Replay(std::move(guest), std::move(profile));
    }).detach();
  }
}

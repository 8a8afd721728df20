#include "deviceplugin/arbiter/peer.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "common/base/clock.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace crossover::arbiter {
namespace {

constexpr std::int64_t kOldEnough = base::kNsPerSecond;

// Returns when a process was started, in ns since boot, or nothing if it is gone.
std::optional<std::int64_t> StartedAt(pid_t pid) {
  constexpr int kFieldsBetween = 19;  // the name ends the second field; the start is field 22
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return std::nullopt;
  char line[1024] = {};
  const bool read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  const char* field = read ? std::strrchr(line, ')') : nullptr;  // the name may contain any character
  for (int i = 0; field != nullptr && i <= kFieldsBetween; ++i) field = std::strchr(field + 1, ' ');
  unsigned long long ticks = 0;
  if (field == nullptr || std::sscanf(field, "%llu", &ticks) != 1) return std::nullopt;
  return static_cast<std::int64_t>(ticks) * (base::kNsPerSecond / sysconf(_SC_CLK_TCK));
}

bool Lives(int pidfd) {
  pollfd process{pidfd, POLLIN, 0};
  return poll(&process, 1, 0) == 0;
}

}  // namespace

base::UniqueFd OpenByNumber(pid_t pid) {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const std::int64_t since_boot = std::int64_t{now.tv_sec} * base::kNsPerSecond + now.tv_nsec;
  base::UniqueFd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return process;
  const auto started = StartedAt(pid);
  if (!started || since_boot - *started < kOldEnough || !Lives(process.get())) process.Reset();
  return process;
}

std::optional<Peer> IdentifyPeer(int socket) {
  ucred credentials{};
  socklen_t length = sizeof(credentials);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return std::nullopt;
  Peer peer;
  peer.pid = credentials.pid;
  peer.uid = credentials.uid;
  int pidfd = -1;
  length = sizeof(pidfd);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0) {
    peer.pidfd.Reset(pidfd);
  } else if (errno == ENOPROTOOPT && peer.pid > 0) {
    peer.pidfd = OpenByNumber(peer.pid);
  }
  return peer;
}

}  // namespace crossover::arbiter

#include "deviceplugin/signaller/rest.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <variant>

#include "common/base/clock.h"
#include "common/logging/log.h"
#include "deviceplugin/signaller/link.h"

namespace crossover::signaller {
namespace {

constexpr turn::Time kConnectPeriod = base::kNsPerSecond;
constexpr int kFirstDescriptor = 3;

// Marks all descriptors above 2, so that exec closes them.
void CloseAtExec() {
#ifdef SYS_close_range
  constexpr unsigned kCloseAtExec = 1u << 2;  // CLOSE_RANGE_CLOEXEC, of Linux 5.11
  if (syscall(SYS_close_range, kFirstDescriptor, ~0u, kCloseAtExec) == 0) return;
#endif
  const long most = sysconf(_SC_OPEN_MAX);
  for (int fd = kFirstDescriptor; fd < most; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// Returns whether the arbiter lets this process use the GPU. Closes the connection after a message that is
// broken.
bool MayUseGpu(const Options& options, const Message& message, Link* link) {
  if (const auto* rest = std::get_if<Rest>(&message)) return !rest->rest;
  if (std::holds_alternative<Follow>(message)) return true;
  if (const auto* broken = std::get_if<Broken>(&message)) {
    logging::Error(options.gpu_uuid + ": the arbiter: " + broken->reason);
    link->Close();
  }
  return false;
}

}  // namespace

std::string BecomeResting(const Options& options) {
  CloseAtExec();
  execl("/proc/self/exe", "crossover-signaller", "--gpu", options.gpu_uuid.c_str(), "--socket",
        options.socket.c_str(), "--no-mps", options.no_mps.c_str(), "--resting", nullptr);
  return std::string("resting: exec of /proc/self/exe: ") + std::strerror(errno);
}

void AwaitGpu(const Options& options) {
  logging::Info(options.gpu_uuid + ": does not use the GPU until the arbiter allows it");
  Link link;
  for (turn::Time connect_again = 0;;) {
    const turn::Time now = base::MonotonicNs();
    if (!link.connected() && now >= connect_again) {
      std::string error;  // what is wrong with it is said by a signaller that works
      link.Connect(options.socket, options.gpu_uuid, /*rests=*/true, &error);
      connect_again = now + kConnectPeriod;
    }
    Received received;
    const LinkState state = link.Receive(SIZE_MAX, &received);
    if (state == LinkState::kMessage && MayUseGpu(options, received.message, &link)) return;
    if (state == LinkState::kNothing) link.Wait(kConnectPeriod);
  }
}

}  // namespace crossover::signaller

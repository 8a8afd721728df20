// gpu_handover TRANSPORT same|apart TURNS HOLD_US [LOOK_US] measures the time from the end of one process's
// last kernel to the start of the next one's first, by the GPU's clock.
//
// TRANSPORT is host, vmm or ipc (words that streams wait for and write, by where they live), hostgate (a
// futex before the launch) or synchronize (known bad). apart: each process is in a PID namespace of its own.
#include <sched.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/handover_client.h"
#include "common/base/futex.h"

namespace crossover::bench {
namespace {

constexpr std::uint32_t kWarmUp = 20;

std::optional<HandoverOptions> Parse(int argc, char** argv) {
  if (argc < 5 || argc > 6) return std::nullopt;
  HandoverOptions options;
  const std::string_view transport = argv[1];
  options.synchronises = transport == "synchronize";
  options.host_gates = transport == "hostgate" || options.synchronises;
  const auto home = HomeFrom(options.host_gates ? "host" : transport);
  const std::string_view place = argv[2];
  if (!home || (place != "same" && place != "apart")) return std::nullopt;
  options.home = *home;
  options.turns = static_cast<std::uint32_t>(Argument("TURNS", argv[3], 2 * kWarmUp, kMostTurns));
  options.hold_us = Argument("HOLD_US", argv[4], 0, 900'000);
  if (argc == 6) options.look_us = Argument("LOOK_US", argv[5], 1, 1'000'000);
  return options;
}

// Starts a client. Where `apart`, the client is a child of the forked process, because it must be the first
// of a PID namespace.
pid_t ForkClient(HandoverPage* page, int client, int socket, const HandoverOptions& options, bool apart) {
  const pid_t pid = ForkTied();
  if (pid != 0) return pid;
  if (apart) {
    if (::unshare(CLONE_NEWPID) != 0) {
      std::perror("unshare: a PID namespace");
      std::exit(4);
    }
    const pid_t inner = ForkTied();
    if (inner != 0) {
      int status = 0;
      ::waitpid(inner, &status, 0);
      ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
  }
  RunHandoverClient(page, client, socket, options);
  std::exit(0);
}

std::vector<std::int64_t> HandOvers(const HandoverPage* page, std::uint32_t turns) {
  std::vector<std::int64_t> samples;
  for (std::uint32_t turn = kWarmUp; turn < turns; ++turn) {
    samples.push_back(page->entered[1][turn] - page->left[0][turn]);
    samples.push_back(page->entered[0][turn + 1] - page->left[1][turn]);
  }
  return samples;
}

int Main(int argc, char** argv) {
  const auto options = Parse(argc, argv);
  int sockets[2];
  if (!options) {
    return RefuseArguments("gpu_handover",
                           "host|vmm|ipc|hostgate|synchronize same|apart TURNS HOLD_US [LOOK_US]",
                           {argv + 1, static_cast<std::size_t>(argc - 1)});
  }
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
    std::perror("gpu_handover: socketpair");
    return 2;
  }
  auto* page = static_cast<HandoverPage*>(SharedMemory(sizeof(HandoverPage)));
  const bool apart = std::string_view(argv[2]) == "apart";
  for (int client = 0; client < 2; ++client) ForkClient(page, client, sockets[client], *options, apart);
  ::close(sockets[0]);
  ::close(sockets[1]);
  int status = 0;
  while (base::LoadWord(&page->ready) != 2) {
    const std::uint32_t seen = base::LoadWord(&page->ready);
    base::FutexWait(&page->ready, seen, 10'000'000);
    if (::waitpid(-1, &status, WNOHANG) > 0) return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }
  base::StoreWord(&page->go, 1);
  base::FutexWakeAll(&page->go);
  while (::wait(&status) > 0) {
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 1;
  }
  std::printf(R"({"transport": "%s", "place": "%s", "handover_us": %s})"
              "\n",
              argv[1], argv[2], SummaryUs(HandOvers(page, options->turns)).c_str());
  return 0;
}

}  // namespace
}  // namespace crossover::bench

int main(int argc, char** argv) { return crossover::bench::Main(argc, argv); }

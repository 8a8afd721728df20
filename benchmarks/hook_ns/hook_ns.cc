// What an un-gated launch pays for the hook in front of it: through the preloaded library minus past it, on a
// driver whose launch does nothing. Then the same launches under a filter that ends the process at any system
// call.
#include <cuda.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/hook_ns/counted.h"
#include "benchmarks/hook_ns/empty_cuda.h"
#include "common/base/clock.h"

namespace crossover::bench {
namespace {

using LaunchFunction = decltype(&cuLaunchKernel);

constexpr int kBlocks = 201;
constexpr int kCalls = 20000;

// Picoseconds for one call.
std::int64_t TimePs(LaunchFunction function) {
  LaunchFunction volatile launch =
      function;  // an indirect call each time, as through any pointer to the driver
  const std::int64_t began = base::MonotonicNs();
  for (int i = 0; i < kCalls; ++i) launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
  return (base::MonotonicNs() - began) * 1000 / kCalls;
}

// Any system call but the exit kills.
void ForbidSystemCalls() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program{static_cast<unsigned short>(sizeof rules / sizeof *rules), rules};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

bool MakesSystemCalls(LaunchFunction launch) {
  const pid_t child = ::fork();
  if (child == 0) {
    ForbidSystemCalls();
    for (int i = 0; i < kCalls; ++i) launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

int Main() {
  cuInit(0);
  const LaunchFunction hooked = &cuLaunchKernel;
  const LaunchFunction direct = EmptyDirectLaunch();
  TimePs(hooked);
  TimePs(direct);
  std::vector<std::int64_t> through, past, difference;
  through.reserve(kBlocks);
  past.reserve(kBlocks);
  difference.reserve(kBlocks);
  const std::uint64_t allocated = Allocations(), locked = Locks();
  for (int block = 0; block < kBlocks; ++block) {
    through.push_back(TimePs(hooked));
    past.push_back(TimePs(direct));
    difference.push_back(through.back() - past.back());
  }
  const std::uint64_t allocations = Allocations() - allocated, locks = Locks() - locked;
  const auto ns = [](const std::vector<std::int64_t>& ps) {
    return static_cast<double>(Quantile(ps, 0.5)) / 1e3;
  };
  std::printf(
      R"({"hook_ns": %.3f, "through_ns": %.3f, "past_ns": %.3f, "launches": %d, "allocations": %llu, )"
      R"("locks": %llu, "system_calls": %s})"
      "\n",
      ns(difference), ns(through), ns(past), kBlocks * kCalls, static_cast<unsigned long long>(allocations),
      static_cast<unsigned long long>(locks), MakesSystemCalls(hooked) ? "true" : "false");
  return 0;
}

}  // namespace
}  // namespace crossover::bench

int main() { return crossover::bench::Main(); }

#include "benchmarks/handover/granter.h"

#include <time.h>

#include "benchmarks/handover/client.h"
#include "common/base/clock.h"
#include "common/base/futex.h"
#include "turn/ops.h"

namespace crossover::bench {
namespace {

void SleepNs(std::int64_t ns) {
  const timespec pause{static_cast<time_t>(ns / base::kNsPerSecond),
                       static_cast<long>(ns % base::kNsPerSecond)};
  ::nanosleep(&pause, nullptr);
}

std::int64_t CpuNs() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return std::int64_t{used.tv_sec} * base::kNsPerSecond + used.tv_nsec;
}

bool Done(const SharedPage* shared) { return base::LoadWord(&shared->done) == kClients; }

}  // namespace

double Poll(SharedPage* shared, const Options& options) {
  std::array<std::uint32_t, kClients> seen{};
  const std::int64_t began = base::MonotonicNs();
  const std::int64_t used = CpuNs();
  while (!Done(shared)) {
    for (std::uint32_t i = 0; i < kClients; ++i) {
      const std::uint32_t released = base::LoadWord(&shared->page.slot[i].rel);
      if (released == seen[i]) continue;
      seen[i] = released;
      StoreAndWake(&shared->page.slot[1 - i].gate, turn::OpenAny(released));
    }
    SleepNs(options.poll_us * base::kNsPerUs);
  }
  return static_cast<double>(CpuNs() - used) / static_cast<double>(base::MonotonicNs() - began);
}

void Throttle(SharedPage* shared) {
  while (!Done(shared)) {
    SleepNs(300 * base::kNsPerMs);
    base::StoreWord(&shared->host_stopped, 1);
    SleepNs(100 * base::kNsPerMs);
    StoreAndWake(&shared->host_stopped, 0);
  }
}

void Begin(SharedPage* shared) {
  while (__atomic_load_n(&shared->ready_clients, __ATOMIC_ACQUIRE) != kClients) SleepNs(base::kNsPerMs);
  StoreAndWake(&shared->page.slot[0].gate, turn::OpenAny(0));
  StoreAndWake(&shared->go, 1);
}

}  // namespace crossover::bench

#include "benchmarks/handover/ping_pong.h"

#include <sys/wait.h>
#include <unistd.h>

#include "benchmarks/handover/client.h"
#include "common/base/clock.h"
#include "common/base/futex.h"

namespace crossover::bench {
namespace {

void Await(std::uint32_t* word, std::uint32_t value) {
  while (true) {
    const std::uint32_t seen = base::LoadWord(word);
    if (seen == value) return;
    base::FutexWait(word, seen, base::kNsPerSecond);
  }
}

}  // namespace

std::vector<std::int64_t> HalfRoundTrips(SharedPage* shared, std::uint32_t rounds) {
  shared->ping = {};
  const pid_t other = ::fork();
  if (other == 0) {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      Await(&shared->ping[0], round);
      StoreAndWake(&shared->ping[1], round);
    }
    ::_exit(0);
  }
  std::vector<std::int64_t> halves;
  halves.reserve(rounds);
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    const std::int64_t sent = base::MonotonicNs();
    StoreAndWake(&shared->ping[0], round);
    Await(&shared->ping[1], round);
    halves.push_back((base::MonotonicNs() - sent) / 2);
  }
  ::waitpid(other, nullptr, 0);
  return halves;
}

}  // namespace crossover::bench

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

// Says `round` on `word`, and when.
void Say(SharedPage* shared, int side, std::uint32_t round, std::int64_t pause_us) {
  if (pause_us > 0) {
    const timespec pause{0, static_cast<long>(pause_us * base::kNsPerUs)};
    ::nanosleep(&pause, nullptr);
  }
  shared->said[static_cast<std::size_t>(side)] = base::MonotonicNs();
  StoreAndWake(&shared->ping[static_cast<std::size_t>(side)], round);
}

// Nanoseconds from the other's word to its being heard.
std::int64_t Hear(SharedPage* shared, int side, std::uint32_t round) {
  Await(&shared->ping[static_cast<std::size_t>(side)], round);
  return base::MonotonicNs() - shared->said[static_cast<std::size_t>(side)];
}

}  // namespace

std::vector<std::int64_t> HalfRoundTrips(SharedPage* shared, std::uint32_t rounds, std::int64_t pause_us) {
  shared->ping = {};
  const pid_t other = ::fork();
  if (other == 0) {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      shared->there = Hear(shared, 0, round);
      Say(shared, 1, round, pause_us);
    }
    ::_exit(0);
  }
  std::vector<std::int64_t> halves;
  halves.reserve(rounds);
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    Say(shared, 0, round, pause_us);
    const std::int64_t back = Hear(shared, 1, round);
    halves.push_back((shared->there + back) / 2);
  }
  ::waitpid(other, nullptr, 0);
  return halves;
}

}  // namespace crossover::bench

#include "benchmarks/handover/ping_pong.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "benchmarks/handover/client.h"
#include "common/base/clock.h"
#include "common/base/futex.h"

namespace crossover::bench {
namespace {

// Gives each side a processor of its own, and the priority of the software GPU's streams, where the system
// allows it. Two streams never share a processor while both are awake, and ordinary threads do not delay
// them.
void ActAsStream(int side) {
  cpu_set_t allowed, own;
  CPU_ZERO(&own);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 1) {
    int left = side;
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&own) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &allowed) && left-- == 0) CPU_SET(cpu, &own);
    }
    ::sched_setaffinity(0, sizeof own, &own);
  }
  const sched_param lowest{1};
  ::sched_setscheduler(0, SCHED_FIFO, &lowest);
}

void Await(std::uint32_t* word, std::uint32_t value) {
  while (true) {
    const std::uint32_t seen = base::LoadWord(word);
    if (seen == value) return;
    base::FutexWait(word, seen, base::kNsPerSecond);
  }
}

// Sleeps for `pause_us`, then stores the time and `round` in the words of `side`, and wakes the other side.
void Say(SharedPage* shared, int side, std::uint32_t round, std::int64_t pause_us) {
  if (pause_us > 0) {
    const timespec pause{0, static_cast<long>(pause_us * base::kNsPerUs)};
    ::nanosleep(&pause, nullptr);
  }
  shared->said[static_cast<std::size_t>(side)] = base::MonotonicNs();
  StoreAndWake(&shared->ping[static_cast<std::size_t>(side)], round);
}

// Waits until `side` has stored `round`. Returns how long ago it did, in ns.
std::int64_t Hear(SharedPage* shared, int side, std::uint32_t round) {
  Await(&shared->ping[static_cast<std::size_t>(side)], round);
  return base::MonotonicNs() - shared->said[static_cast<std::size_t>(side)];
}

void Ping(SharedPage* shared, std::uint32_t rounds, std::int64_t pause_us) {
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    Say(shared, 0, round, pause_us);
    const std::int64_t back = Hear(shared, 1, round);
    shared->halves[round - 1] = (shared->there + back) / 2;
  }
}

void Pong(SharedPage* shared, std::uint32_t rounds, std::int64_t pause_us) {
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    shared->there = Hear(shared, 0, round);
    Say(shared, 1, round, pause_us);
  }
}

}  // namespace

std::vector<std::int64_t> HalfRoundTrips(SharedPage* shared, std::uint32_t rounds, std::int64_t pause_us) {
  shared->ping = {};
  pid_t sides[2];
  for (int side = 0; side < 2; ++side) {
    sides[side] = ::fork();
    if (sides[side] != 0) continue;
    ActAsStream(side);
    (side == 0 ? Ping : Pong)(shared, rounds, pause_us);
    ::_exit(0);
  }
  for (const pid_t side : sides) ::waitpid(side, nullptr, 0);
  return {shared->halves.begin(), shared->halves.begin() + rounds};
}

}  // namespace crossover::bench

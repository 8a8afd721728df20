// Measures how long a hand-over takes: from the last action before one client's release to the first action
// after the next client's wait. The first argument chooses the granter. The program also measures the
// ping-pong of two processes for comparison.
//
//   handover stream|kernel|poll|callback|synchronize [turns [hold_us [poll_us [throttle]]]]
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/handover/client.h"
#include "benchmarks/handover/granter.h"
#include "benchmarks/handover/ping_pong.h"

namespace crossover::bench {
namespace {

constexpr std::uint32_t kWarmUp = 20;
constexpr std::uint32_t kRounds = 2000;
constexpr std::uint32_t kPacedRounds = 400;

Options Parse(int argc, char** argv) {
  constexpr std::string_view kNames[] = {"stream", "kernel", "poll", "callback", "synchronize"};
  Options options;
  bool known = false;
  for (int i = 0; argc > 1 && i < 5; ++i) {
    if (kNames[i] != argv[1]) continue;
    options.granter = static_cast<Granter>(i);
    known = true;
  }
  if (!known) {
    std::fprintf(stderr,
                 "handover: first argument: expected stream, kernel, poll, callback or synchronize, got %s\n",
                 argc > 1 ? argv[1] : "none");
    std::exit(2);
  }
  if (argc > 2)
    options.turns = static_cast<std::uint32_t>(Argument("turns", argv[2], 2 * kWarmUp, kMaxTurns));
  if (argc > 3) options.hold_us = Argument("hold_us", argv[3], 0, 900'000);
  if (argc > 4) options.poll_us = Argument("poll_us", argv[4], 1, 1'000'000);
  if (argc > 5) options.throttle = Argument("throttle", argv[5], 0, 1) == 1;
  return options;
}

// Returns shared memory on a memfd, like the arbiter's pages. It is never unmapped.
SharedPage* MakeShared() {
  const int fd = ::memfd_create("handover", MFD_CLOEXEC);
  if (fd < 0 || ::ftruncate(fd, sizeof(SharedPage)) != 0) {
    std::perror("handover: memfd");
    std::exit(1);
  }
  void* memory = ::mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    std::perror("handover: mmap");
    std::exit(1);
  }
  return static_cast<SharedPage*>(memory);
}

template <typename Body>
pid_t Fork(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    body();
    std::exit(0);  // exit handlers run, so the driver can report
  }
  return pid;
}

// Returns the durations of all hand-overs, in ns. Client 0 goes first. Its turn k hands over to turn k of
// client 1, which hands over to turn k + 1 of client 0.
std::vector<std::int64_t> HandOvers(const SharedPage* shared, std::uint32_t turns) {
  std::vector<std::int64_t> samples;
  const auto& [first, second] = shared->times;
  for (std::uint32_t k = kWarmUp; k < turns; ++k) {
    samples.push_back(second.entered[k] - first.left[k]);
    samples.push_back(first.entered[k + 1] - second.left[k]);
  }
  return samples;
}

// Holds the ping-pong times. They are measured before and after the turns, so that both see the machine in
// the same state.
struct Yardsticks {
  std::vector<std::int64_t> tight, paced;  // ns; without and with pauses of the length of a turn

  void Measure(SharedPage* shared, const Options& options) {
    Append(&tight, HalfRoundTrips(shared, kRounds, 0));
    Append(&paced, HalfRoundTrips(shared, kPacedRounds, options.hold_us));
  }

 private:
  static void Append(std::vector<std::int64_t>* all, const std::vector<std::int64_t>& more) {
    all->insert(all->end(), more.begin(), more.end());
  }
};

int Main(int argc, char** argv) {
  const Options options = Parse(argc, argv);
  SharedPage* shared = MakeShared();
  Yardsticks yardsticks;
  yardsticks.Measure(shared, options);
  pid_t clients[kClients];
  for (std::uint32_t i = 0; i < kClients; ++i) clients[i] = Fork([=] { RunClient(shared, i, options); });
  if (options.throttle) Fork([=] { Throttle(shared); });
  Begin(shared);
  const double cpu = options.granter == Granter::kPoll ? Poll(shared, options) : 0.0;
  for (const pid_t client : clients) {
    int status = 0;
    ::waitpid(client, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return 1;
  }
  while (::wait(nullptr) > 0) {
  }
  yardsticks.Measure(shared, options);
  std::printf(
      R"({"granter": "%s", "handover_us": %s, "half_round_trip_us": %s, "paced_half_round_trip_us": %s, )"
      R"("granter_cpu": %.4f})"
      "\n",
      argv[1], SummaryUs(HandOvers(shared, options.turns)).c_str(), SummaryUs(yardsticks.tight).c_str(),
      SummaryUs(yardsticks.paced).c_str(), cpu);
  return 0;
}

}  // namespace
}  // namespace crossover::bench

int main(int argc, char** argv) { return crossover::bench::Main(argc, argv); }

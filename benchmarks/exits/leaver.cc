// Runs one rank of two, and leaves in the middle of a turn: `leaver WAY ITERATIONS WAIT_US`. It computes and
// reduces for so many iterations, has its next turn, launches another kernel in it, waits so long, and
// leaves. It never destroys its communicator. The ways:
//
// return      returns from main()
// exception   throws, as a program does that fails: main() returns 1
// signal      gets SIGTERM, whose handler lets it call exit() at the next step, as Python's does
// no_destroy  calls exit() from within a function
//
// It prints "leaves" and the time by the clock of the arbiter's trace, in ns, right before it begins to
// leave. Environment: RANK, LOCAL_RANK; IDS, the file where rank 0 leaves the unique id.
#include <cuda.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "common/base/clock.h"
#include "tests/process/sidecar/small_rank.h"
#include "tests/process/use_device.h"

namespace {

std::atomic<bool> told{false};

void SayThatItLeaves() {
  std::printf("leaves %lld\n", static_cast<long long>(crossover::base::MonotonicNs()));
  std::fflush(stdout);
}

int Leave(const std::string& way, SmallRank* rank) {
  SayThatItLeaves();
  if (way == "return") return 0;
  if (way == "exception") throw std::runtime_error("a program that fails");
  if (way == "no_destroy") std::exit(0);
  std::raise(SIGTERM);
  while (!told) rank->Compute();
  std::exit(0);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string way = argc == 4 ? argv[1] : "";
  if (way != "return" && way != "exception" && way != "signal" && way != "no_destroy") {
    std::fprintf(stderr, "usage: leaver return|exception|signal|no_destroy ITERATIONS WAIT_US\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { told = true; });
  MUST(cuInit(0));
  MUST(UseDevice(std::atoi(std::getenv("LOCAL_RANK"))));
  SmallRank rank(std::atoi(std::getenv("RANK")), std::getenv("IDS"));
  rank.Train(std::atoi(argv[2]));
  rank.Compute();  // the first launch behind a collective begins a turn
  rank.Synchronize();
  rank.Compute();
  usleep(static_cast<useconds_t>(std::atoi(argv[3])));
  return Leave(way, &rank);
} catch (const std::runtime_error& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}

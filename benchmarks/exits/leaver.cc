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
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "simgpu/nccl/nccl.h"
#include "tests/process/sidecar/rendezvous.h"
#include "tests/process/use_device.h"

namespace {

constexpr int kRanks = 2;
constexpr std::size_t kCount = 4096;
constexpr unsigned long long kKernelNs = 2'000'000;
constexpr int kLayers = 3;
constexpr char kImage[] = "// simgpu 1\nkernel timed ns=arg sms=132\n";

std::atomic<bool> told{false};

class Rank {
 public:
  Rank(int rank, const std::string& ids) {
    MUST(ncclCommInitRank(&comm_, kRanks, Share(&ncclGetUniqueId, ids, rank), rank));
    for (CUstream* stream : {&compute_, &side_}) MUST(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&gradients_, kCount * sizeof(int)));
    CUmodule module = nullptr;
    MUST(cuModuleLoadData(&module, kImage));
    MUST(cuModuleGetFunction(&timed_, module, "timed"));
  }

  void Compute() {
    unsigned long long ns = kKernelNs;
    void* parameters[] = {&ns};
    MUST(cuLaunchKernel(timed_, 1, 1, 1, 32, 1, 1, 0, compute_, parameters, nullptr));
  }
  void Iterate() {
    for (int layer = 0; layer < kLayers; ++layer) Compute();
    Order(compute_, side_);
    const auto data = reinterpret_cast<int*>(gradients_);
    MUST(ncclAllReduce(data, data, kCount, ncclInt32, ncclSum, comm_, side_));
    Order(side_, compute_);
    Synchronize();  // as for the loss
  }
  void Synchronize() { MUST(cuStreamSynchronize(compute_)); }

 private:
  void Order(CUstream first, CUstream then) {
    MUST(cuEventRecord(event_, first));
    MUST(cuStreamWaitEvent(then, event_, 0));
  }

  ncclComm_t comm_ = nullptr;
  CUstream compute_ = nullptr, side_ = nullptr;
  CUevent event_ = nullptr;
  CUdeviceptr gradients_ = 0;
  CUfunction timed_ = nullptr;
};

void SayThatItLeaves() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  std::printf("leaves %lld\n", now.tv_sec * 1'000'000'000LL + now.tv_nsec);
  std::fflush(stdout);
}

int Leave(const std::string& way, Rank* rank) {
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
  Rank rank(std::atoi(std::getenv("RANK")), std::getenv("IDS"));
  for (int i = std::atoi(argv[2]); i > 0; --i) rank.Iterate();
  rank.Compute();  // the first launch behind a collective begins a turn
  rank.Synchronize();
  rank.Compute();
  usleep(static_cast<useconds_t>(std::atoi(argv[3])));
  return Leave(way, &rank);
} catch (const std::runtime_error& failure) {
  std::fprintf(stderr, "%s\n", failure.what());
  return 1;
}

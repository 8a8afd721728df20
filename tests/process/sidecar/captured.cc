// Runs one rank of two. It calls its collectives eagerly at first, and then does something odd, which THEN
// names:
//
// capture   captures them into a graph, as PyTorch does with whole iterations of DistributedDataParallel, and
//           computes for a second. The software NCCL refuses to be captured: the library sees the same call,
//           and none after it.
// reset     resets its device and trains on in the next context.
// end       resets its device and ends.
// exit      exits in the middle of a turn, and leaves everything as it is.
// take      takes the number of the library's socket for a socket of its own, in which data lies, and trains
// on.
//
// Environment: RANK; IDS, the file where rank 0 leaves the unique id; THEN.
#include <cuda.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "simgpu/nccl/nccl.h"
#include "tests/process/sidecar/rendezvous.h"
#include "tests/process/use_device.h"

namespace {

constexpr int kRanks = 2;
constexpr std::size_t kCount = 4096;
constexpr char kImage[] = "// simgpu 1\nkernel timed ns=arg sms=132\n";

class Rank {
 public:
  // Rank 0 leaves the unique id in the file `ids`.
  Rank(int rank, const std::string& ids) {
    MUST(ncclCommInitRank(&comm_, kRanks, Share(&ncclGetUniqueId, ids.c_str(), rank), rank));
    for (CUstream* stream : {&compute_, &side_}) MUST(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
    MUST(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    MUST(cuMemAlloc(&gradients_, kCount * sizeof(int)));
    CUmodule module = nullptr;
    MUST(cuModuleLoadData(&module, kImage));
    MUST(cuModuleGetFunction(&timed_, module, "timed"));
  }

  void Compute() {
    unsigned long long ns = 2'000'000;
    void* parameters[] = {&ns};
    MUST(cuLaunchKernel(timed_, 1, 1, 1, 32, 1, 1, 0, compute_, parameters, nullptr));
  }
  ncclResult_t Reduce() {
    const auto data = reinterpret_cast<int*>(gradients_);
    return ncclAllReduce(data, data, kCount, ncclInt32, ncclSum, comm_, side_);
  }
  void Iterate() {
    for (int layer = 0; layer < 3; ++layer) Compute();
    Order(compute_, side_);
    MUST(Reduce());
    Order(side_, compute_);
  }
  void Capture() {
    CUgraph graph = nullptr;
    MUST(cuStreamBeginCapture(side_, CU_STREAM_CAPTURE_MODE_RELAXED));
    Must(Reduce() == ncclInvalidUsage ? 0 : 1, "a collective that is captured");
    MUST(cuStreamEndCapture(side_, &graph));
  }
  void Synchronize() { MUST(cuStreamSynchronize(compute_)); }
  // Synchronizes in each iteration, as for the loss. A host that runs ahead would end before the library
  // watches.
  void Train(int iterations) {
    for (int i = 0; i < iterations; ++i) {
      Iterate();
      Synchronize();
    }
  }
  void Leave() { MUST(ncclCommDestroy(comm_)); }

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

// Returns the number of the socket by which this process is connected to the arbiter, or -1.
int SocketOfLibrary() {
  constexpr int kNumbers = 1024;
  const char* const path = std::getenv("CROSSOVER_SOCKET");
  for (int number = 3; path != nullptr && number < kNumbers; ++number) {
    sockaddr_un peer{};
    socklen_t bytes = sizeof peer;
    if (getpeername(number, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) continue;
    if (peer.sun_family == AF_UNIX && std::strcmp(peer.sun_path, path) == 0) return number;
  }
  return -1;
}

// Trains on with the number of the library's socket taken. Ends the program with an error where data is lost
// or comes that is not the program's.
void TrainWithItsNumber(Rank* rank, int iterations) {
  const int number = SocketOfLibrary();
  int ends[2];
  char data[8] = {};
  Must(number < 0 ? 1 : 0, "find the socket of the library");
  MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
  Must(dup2(ends[1], number) == number ? 0 : 1, "take its number");
  Must(send(ends[0], "data", 4, 0) == 4 ? 0 : 1, "send data");
  rank->Train(iterations);
  Must(recv(number, data, sizeof data, MSG_DONTWAIT) == 4 ? 0 : 1, "find the data");
  Must(recv(ends[0], data, sizeof data, MSG_DONTWAIT) < 0 ? 0 : 1, "find nothing of others");
}

}  // namespace

int main() {
  constexpr int kEager = 100, kCaptured = 100;
  const int number = std::atoi(std::getenv("RANK"));
  const std::string ids = std::getenv("IDS"), then = std::getenv("THEN");
  MUST(cuInit(0));
  MUST(UseDevice(number));
  Rank rank(number, ids);
  rank.Train(kEager);
  if (then == "take") {
    TrainWithItsNumber(&rank, kEager);
    rank.Leave();
    return 0;
  }
  if (then == "exit") {
    rank.Compute();  // the first launch behind the join begins a turn
    rank.Synchronize();
    std::exit(0);
  }
  if (then != "capture") {
    rank.Leave();
    MUST(cuDevicePrimaryCtxReset(number));
    if (then == "end") return 0;
    MUST(UseDevice(number));
    Rank(number, ids + "2").Train(kEager);
    return 0;
  }
  rank.Capture();
  for (int i = 0; i < kCaptured; ++i) {
    rank.Compute();
    rank.Synchronize();
    usleep(10'000);
  }
}

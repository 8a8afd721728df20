// Runs one rank of two. It calls its collectives eagerly at first, and then does something odd, which THEN
// names:
//
// capture   captures them into a graph, as PyTorch does with whole iterations of DistributedDataParallel, and
//           launches it for over a second, with compute. The library sees the call that is captured, and none
//           after it.
// exchange  captures an AlltoAll, a Gather and a Scatter instead, each into a graph of its own.
// reset     resets its device and trains on in the next context.
// end       resets its device and ends.
// exit      exits in the middle of a turn, and leaves everything as it is.
// take      takes the number of the library's socket for a socket of its own, in which data lies, and trains
// on.
//
// Environment: RANK; IDS, the file in which rank 0 leaves the unique id; THEN.
#include <cuda.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tests/process/sidecar/small_rank.h"
#include "tests/process/use_device.h"

namespace {

// Captures one collective of a rank into a graph that can be launched.
template <typename Collective>
CUgraphExec Capture(const SmallRank& rank, Collective collective) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  MUST(cuStreamBeginCapture(rank.side(), CU_STREAM_CAPTURE_MODE_RELAXED));
  MUST(collective());
  MUST(cuStreamEndCapture(rank.side(), &graph));
  MUST(cuGraphInstantiate(&exec, graph, 0));
  MUST(cuGraphDestroy(graph));
  return exec;
}

std::vector<CUgraphExec> CaptureAll(SmallRank* rank, bool exchanges) {
  if (!exchanges) return {Capture(*rank, [&] { return rank->Reduce(); })};
  std::vector<CUgraphExec> graphs;
  for (const Exchange exchange : {Exchange::kAlltoAll, Exchange::kGather, Exchange::kScatter})
    graphs.push_back(Capture(*rank, [&] { return rank->Move(exchange); }));
  return graphs;
}

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

// Trains on with the number of the library's socket taken. Ends the program with an error if data is lost or
// comes that is not the program's.
void TrainWithItsNumber(SmallRank* rank, int iterations) {
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
  SmallRank rank(number, ids);
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
  if (then != "capture" && then != "exchange") {
    rank.Leave();
    MUST(cuDevicePrimaryCtxReset(number));
    if (then == "end") return 0;
    MUST(UseDevice(number));
    SmallRank(number, ids + "2").Train(kEager);
    return 0;
  }
  const auto graphs = CaptureAll(&rank, then == "exchange");
  for (int i = 0; i < kCaptured; ++i) {
    rank.Compute();
    for (const CUgraphExec graph : graphs) MUST(cuGraphLaunch(graph, rank.side()));
    rank.Synchronize();
    usleep(10'000);
  }
  MUST(cuStreamSynchronize(rank.side()));
}

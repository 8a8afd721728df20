// Has more streams, captures or communicators at a time than a table has room for, for a while, and trains
// on: `stranger_burster WAY [ONLY_RANK]`. With ONLY_RANK, only that rank does.
//
// streams     one thread makes them, some with a priority, lets each compute between two events, and destroys
//             them
// captures    captures on many streams at once: before the job begins they end with their streams, and once
//             it trains each ends by its call
// kept        keeps a pool of streams, which idle from then on, beside a burst
// pools       eight threads have a pool each
// threads     threads come and go that use their own default streams
// again       five bursts, one after the other
// early       a burst after a few iterations, while the library still learns
// across      the streams are alive while the job trains on for some iterations
// splits      communicators, split from one of the rank's own
#include <cuda.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "benchmarks/strangers/rank.h"
#include "simgpu/nccl/nccl.h"
#include "tests/process/use_device.h"

namespace {

constexpr int kEager = 60, kStreams = 200, kKept = 60, kThreads = 8, kBursts = 5, kCommunicators = 80;
constexpr int kCaptures = 65, kFew = 2;
constexpr char kImage[] = "// simgpu 1\nkernel timed ns=arg sms=132\n";

void Check(int result, const char* call) {
  if (result != 0) StrangerFail((std::string(call) + " returned " + std::to_string(result)).c_str());
}
#define CHECK(call) Check(static_cast<int>(call), #call)

int Gpu() { return std::atoi(std::getenv("LOCAL_RANK")); }

CUfunction Timed() {
  static const CUfunction timed = [] {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CHECK(cuModuleLoadData(&module, kImage));
    CHECK(cuModuleGetFunction(&function, module, "timed"));
    return function;
  }();
  return timed;
}

// Launches a short kernel between two events, as side streams of frameworks do.
void ComputeOn(CUstream stream, CUstream main, CUevent event) {
  unsigned long long ns = 1000;
  void* parameters[] = {&ns};
  CHECK(cuEventRecord(event, main));
  CHECK(cuStreamWaitEvent(stream, event, 0));
  CHECK(cuLaunchKernel(Timed(), 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr));
  CHECK(cuEventRecord(event, stream));
  CHECK(cuStreamWaitEvent(main, event, 0));
}

// A Pool has streams that have computed. It keeps them until it is told to destroy them.
class Pool {
 public:
  explicit Pool(int count) : streams_(static_cast<std::size_t>(count)) {
    CHECK(cuStreamCreate(&main_, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      if (i % 2 == 0) {
        CHECK(cuStreamCreate(&streams_[i], CU_STREAM_NON_BLOCKING));
      } else {
        CHECK(cuStreamCreateWithPriority(&streams_[i], CU_STREAM_NON_BLOCKING, -static_cast<int>(i % 3)));
      }
    }
    for (CUstream stream : streams_) ComputeOn(stream, main_, event_);
    CHECK(cuStreamSynchronize(main_));
  }
  void Destroy() {
    for (CUstream stream : streams_) CHECK(cuStreamDestroy(stream));
    CHECK(cuStreamDestroy(main_));
    CHECK(cuEventDestroy(event_));
  }

 private:
  std::vector<CUstream> streams_;
  CUstream main_ = nullptr;
  CUevent event_ = nullptr;
};

// Lets each thread keep its pool until all have theirs.
void UsePools() {
  std::latch all(kThreads);
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&all] {
      CHECK(UseDevice(Gpu()));
      Pool pool(kStreams / kThreads);
      all.arrive_and_wait();
      pool.Destroy();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Lets each thread wait for all others before it ends, so that their streams are alive at once.
void UseThreads() {
  Pool(1).Destroy();  // the library looks at launches once there is a new stream
  std::latch all(kStreams);
  std::vector<std::thread> threads;
  for (int number = 0; number < kStreams; ++number) {
    threads.emplace_back([&all] {
      CUevent event = nullptr;
      CHECK(UseDevice(Gpu()));
      CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
      ComputeOn(CU_STREAM_PER_THREAD, CU_STREAM_PER_THREAD, event);
      CHECK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
      CHECK(cuEventDestroy(event));
      all.arrive_and_wait();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A communicator of one rank has no peers, so the ranks need not do this together. It takes its place in the
// library's table all the same, at its first collective.
void UseSplits() {
  ncclUniqueId id;
  ncclComm_t own = nullptr;
  CUdeviceptr memory = 0;
  CHECK(ncclGetUniqueId(&id));
  CHECK(ncclCommInitRank(&own, 1, id, 0));
  CHECK(cuMemAlloc(&memory, sizeof(int)));
  const auto number = reinterpret_cast<int*>(memory);
  std::vector<ncclComm_t> parts(kCommunicators, nullptr);
  for (ncclComm_t& part : parts) {
    CHECK(ncclCommSplit(own, 0, 0, &part, nullptr));
    CHECK(ncclAllReduce(number, number, 1, ncclInt32, ncclSum, part, nullptr));
  }
  CHECK(cuCtxSynchronize());
  for (ncclComm_t part : parts) CHECK(ncclCommDestroy(part));
  CHECK(ncclCommDestroy(own));
  CHECK(cuMemFree(memory));
}

// A CapturesEnd says how: by the call, or with their streams.
enum class CapturesEnd { kByCall, kWithStreams };

void UseCaptures(CapturesEnd end) {
  std::vector<CUstream> streams(kCaptures, nullptr);
  for (CUstream& stream : streams) CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  for (CUstream stream : streams) CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  for (CUstream stream : streams) {
    CUgraph graph = nullptr;
    if (end == CapturesEnd::kByCall) {
      CHECK(cuStreamEndCapture(stream, &graph));
      CHECK(cuGraphDestroy(graph));
    }
    CHECK(cuStreamDestroy(stream));
  }
}

// Plays the burst of this way, where `bursts`; else only trains as long as the other rank does. Returns
// false for an unknown way.
bool Play(const std::string& way, bool bursts) {
  constexpr int kBetween = kEager / kBursts;
  if (way == "across") {
    Pool pool(bursts ? kStreams : 0);
    StrangerTrain(kBetween);
    pool.Destroy();
  } else if (way == "again") {
    for (int number = 0; number < kBursts; ++number) {
      if (bursts) Pool(kStreams).Destroy();
      StrangerTrain(kBetween);
    }
  } else if (way == "streams" || way == "early") {
    if (bursts) Pool(kStreams).Destroy();
  } else if (way == "captures") {
    if (bursts) UseCaptures(CapturesEnd::kByCall);
  } else if (way == "kept") {
    if (bursts) Pool{kKept};
    if (bursts) Pool(kStreams).Destroy();
  } else if (way == "pools") {
    if (bursts) UsePools();
  } else if (way == "threads") {
    if (bursts) UseThreads();
  } else if (way == "splits") {
    if (bursts) UseSplits();
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  const bool bursts = argc < 3 || std::string(argv[2]) == std::getenv("RANK");
  if (way == "captures" && bursts) {
    CHECK(cuInit(0));
    CHECK(UseDevice(Gpu()));
    UseCaptures(CapturesEnd::kWithStreams);
  }
  StrangerBegin();
  if (way == "early") {
    StrangerNumber();  // what comes before the library has its place in line, it does not look at
    StrangerTrain(kFew);
  } else {
    StrangerTrain(kEager);
    StrangerNumber();
  }
  if (!Play(way, bursts)) {
    StrangerFail(
        "usage: stranger_burster "
        "streams|captures|kept|pools|threads|again|early|across|splits [ONLY_RANK]");
  }
  StrangerActed();
  StrangerTrainOn();
  StrangerEnd();
  return 0;
}

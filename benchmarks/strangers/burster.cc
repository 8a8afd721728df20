// Has more streams or communicators at a time than the library has room for, for a while, and trains on:
// `stranger_burster WAY [ONLY_RANK]`. With ONLY_RANK, only that rank does.
//
// streams     one thread makes them, lets each compute between two events, and destroys them
// priorities  the same, with priorities
// kept        keeps a pool of streams, which idle from then on, beside a burst
// pools       eight threads have a pool each
// threads     threads come and go that use their own default streams
// again       five bursts, one after the other
// early       a burst before the first iteration, while the library still learns
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

enum class After { kDestroy, kKeep };

void UseStreams(int count, bool priorities, After after) {
  CUstream main = nullptr;
  CUevent event = nullptr;
  CHECK(cuStreamCreate(&main, CU_STREAM_NON_BLOCKING));
  CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  std::vector<CUstream> streams(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (priorities) {
      CHECK(cuStreamCreateWithPriority(&streams[i], CU_STREAM_NON_BLOCKING, -static_cast<int>(i % 3)));
    } else {
      CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    }
  }
  for (CUstream stream : streams) ComputeOn(stream, main, event);
  CHECK(cuStreamSynchronize(main));
  if (after == After::kKeep) return;
  for (CUstream stream : streams) CHECK(cuStreamDestroy(stream));
  CHECK(cuStreamDestroy(main));
  CHECK(cuEventDestroy(event));
}

void UsePools() {
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([] {
      CHECK(UseDevice(Gpu()));
      UseStreams(kStreams / kThreads, false, After::kDestroy);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Lets each thread wait for all others before it ends, so that their streams are alive at once.
void UseThreads() {
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
// library's table all the same.
void UseSplits() {
  ncclUniqueId id;
  ncclComm_t own = nullptr;
  CHECK(ncclGetUniqueId(&id));
  CHECK(ncclCommInitRank(&own, 1, id, 0));
  std::vector<ncclComm_t> parts(kCommunicators, nullptr);
  for (ncclComm_t& part : parts) CHECK(ncclCommSplit(own, 0, 0, &part, nullptr));
  for (ncclComm_t part : parts) CHECK(ncclCommDestroy(part));
  CHECK(ncclCommDestroy(own));
}

bool Burst(const std::string& way) {
  if (way == "streams" || way == "early") {
    UseStreams(kStreams, false, After::kDestroy);
  } else if (way == "priorities") {
    UseStreams(kStreams, true, After::kDestroy);
  } else if (way == "kept") {
    UseStreams(kKept, false, After::kKeep);
    UseStreams(kStreams, false, After::kDestroy);
  } else if (way == "again") {
    for (int number = 0; number < kBursts; ++number) {
      UseStreams(kStreams, false, After::kDestroy);
      StrangerTrain(kEager / kBursts);
    }
  } else if (way == "pools") {
    UsePools();
  } else if (way == "threads") {
    UseThreads();
  } else if (way == "splits") {
    UseSplits();
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc > 1 ? argv[1] : "";
  const bool bursts = argc < 3 || std::string(argv[2]) == std::getenv("RANK");
  StrangerBegin();
  if (way != "early") {
    StrangerTrain(kEager);
    StrangerNumber();
  }
  if (bursts && !Burst(way)) {
    StrangerFail(
        "usage: stranger_burster "
        "streams|priorities|kept|pools|threads|again|early|splits [ONLY_RANK]");
  }
  StrangerActed();
  StrangerTrainOn();
  StrangerEnd();
  return 0;
}

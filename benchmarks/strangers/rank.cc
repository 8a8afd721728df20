#include "benchmarks/strangers/rank.h"

#include <cuda.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "simgpu/nccl/nccl.h"
#include "tests/process/sidecar/rendezvous.h"
#include "tests/process/use_device.h"

namespace {

constexpr int kRanks = 2, kLayers = 3, kNumbers = 4096;
constexpr std::size_t kCount = 4096;
constexpr unsigned long long kKernelNs = 2'000'000;
constexpr unsigned kLongestLife = 180;  // s; a program that has left its family ends by itself
constexpr long long kLongestNs = 60'000'000'000;
constexpr char kImage[] = "// simgpu 1\nkernel timed ns=arg sms=132\n";

const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int Rank() { return std::atoi(Variable("RANK")); }

std::string Path(const char* what) { return std::string(Variable("STATE")) + "/" + what; }
std::string OwnPath(const char* what) { return Path(what) + "-" + std::to_string(Rank()); }

// Leaves a file that appears whole.
void Leave(const std::string& path, const void* bytes, std::size_t size) {
  const std::string fresh = path + ".new";
  std::FILE* file = std::fopen(fresh.c_str(), "wb");
  const bool written = file != nullptr && std::fwrite(bytes, 1, size, file) == size;
  if (file == nullptr || std::fclose(file) != 0 || !written || std::rename(fresh.c_str(), path.c_str()) != 0)
    _exit(4);
}

long long Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

[[noreturn]] void Fail(const std::string& what) {
  const std::string verdict = "wrong: " + what;
  Leave(OwnPath("verdict"), verdict.data(), verdict.size());
  _exit(1);
}

void Check(int result, const char* call) {
  if (result != 0) Fail(std::string(call) + " returned " + std::to_string(result));
}

#define CHECK(call) Check(static_cast<int>(call), #call)

class Job {
 public:
  void Begin() {
    CHECK(cuInit(0));
    CHECK(UseDevice(std::atoi(Variable("LOCAL_RANK"))));
    CHECK(ncclCommInitRank(&comm_, kRanks, Share(&ncclGetUniqueId, Path("id"), Rank()), Rank()));
    for (CUstream* stream : {&compute_, &side_}) CHECK(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuEventCreate(&event_, CU_EVENT_DISABLE_TIMING));
    CHECK(cuMemAlloc(&gradients_, kCount * sizeof(int)));
    CHECK(cuMemsetD8Async(gradients_, 0, kCount * sizeof(int), compute_));
    CUmodule module = nullptr;
    CHECK(cuModuleLoadData(&module, kImage));
    CHECK(cuModuleGetFunction(&timed_, module, "timed"));
  }

  // Returns whether a rank wants to end.
  bool Iterate(bool ends) {
    ++iteration_;
    host_[0] = iteration_ * (Rank() + 1);
    host_[1] = ends ? 1 : 0;
    CHECK(cuMemcpyHtoDAsync(gradients_, host_, sizeof host_, compute_));
    for (int layer = 0; layer < kLayers; ++layer) {
      unsigned long long ns = kKernelNs;
      void* parameters[] = {&ns};
      CHECK(cuLaunchKernel(timed_, 1, 1, 1, 32, 1, 1, 0, compute_, parameters, nullptr));
    }
    Order(compute_, side_);
    const auto data = reinterpret_cast<int*>(gradients_);
    CHECK(ncclAllReduce(data, data, kCount, ncclInt32, ncclSum, comm_, side_));
    Order(side_, compute_);
    CHECK(cuMemcpyDtoHAsync(host_, gradients_, sizeof host_, compute_));
    CHECK(cuStreamSynchronize(compute_));
    constexpr int kSumOfFactors = kRanks * (kRanks + 1) / 2;
    if (host_[0] != iteration_ * kSumOfFactors) {
      Fail("iteration " + std::to_string(iteration_) + ": expected the sum " +
           std::to_string(iteration_ * kSumOfFactors) + ", got " + std::to_string(host_[0]));
    }
    return host_[1] > 0;
  }
  void End() { CHECK(ncclCommDestroy(comm_)); }

 private:
  void Order(CUstream first, CUstream then) {
    CHECK(cuEventRecord(event_, first));
    CHECK(cuStreamWaitEvent(then, event_, 0));
  }

  ncclComm_t comm_ = nullptr;
  CUstream compute_ = nullptr, side_ = nullptr;
  CUevent event_ = nullptr;
  CUdeviceptr gradients_ = 0;
  CUfunction timed_ = nullptr;
  int host_[2] = {};
  int iteration_ = 0;
};

Job job;

// Returns whether the number is a socket that is connected to the arbiter.
bool IsOfLibrary(int number) {
  sockaddr_un peer{};
  socklen_t bytes = sizeof peer;
  if (getpeername(number, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) return false;
  return peer.sun_family == AF_UNIX && std::strcmp(peer.sun_path, Variable("CROSSOVER_SOCKET")) == 0;
}

}  // namespace

extern "C" {

void StrangerBegin() {
  alarm(kLongestLife);
  job.Begin();
}

void StrangerTrain(int iterations) {
  while (iterations-- > 0) job.Iterate(false);
}

void StrangerActed() {
  const std::string now = std::to_string(Now());
  Leave(OwnPath("acted"), now.data(), now.size());
}

void StrangerTrainOn() {
  const std::string enough = Path("enough");
  const long long end = Now() + kLongestNs;
  while (!job.Iterate(access(enough.c_str(), F_OK) == 0 || Now() > end)) {
  }
}

void StrangerEnd() {
  job.End();
  Leave(OwnPath("verdict"), "sound", std::strlen("sound"));
}

void StrangerSaw(const char* what, int answer) {
  const std::string line = std::string(what) + " " + std::to_string(answer) + "\n";
  const int file = open(OwnPath("seen").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  const bool written =
      file >= 0 && write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (file >= 0) close(file);
  if (!written) Fail("what was seen cannot be written");
}

void StrangerFail(const char* what) { Fail(what); }

int StrangerNumber() {
  if (*Variable("PLAIN") != '\0') {
    const int number = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (number < 0) Fail("no descriptor is free");
    return number;  // it stays open, as the library's does
  }
  for (const long long end = Now() + kLongestNs; Now() < end; usleep(1000)) {
    for (int number = 3; number < kNumbers; ++number) {
      if (IsOfLibrary(number)) return number;
    }
  }
  Fail("the library has no connection to an arbiter");
}

int StrangerNeeds(int number) { return fcntl(number, F_GETFD) >= 0 && !IsOfLibrary(number) ? 1 : 0; }

}  // extern "C"

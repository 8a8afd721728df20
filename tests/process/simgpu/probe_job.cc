// Programs that share a GPU or a word with another process. Arguments: the part to play, then its own.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/process/simgpu/probe.h"

namespace {

unsigned* MapWords(const char* path, CUdeviceptr* address) {
  const int fd = open(path, O_RDWR | O_CREAT, 0600);
  CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
  void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(memory != MAP_FAILED);
  close(fd);
  OK(cuMemHostRegister(memory, 4096, CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_PORTABLE));
  OK(cuMemHostGetDevicePointer(address, memory, 0));
  return static_cast<unsigned*>(memory);
}

// Two streams of two processes hand a turn to and fro: even turns are ours when `self` is 0.
int PlayPingPong(const char* path, unsigned self, unsigned turns) {
  const Program program;
  CUdeviceptr address;
  const unsigned* words = MapWords(path, &address);
  const CUstream stream = MakeStream();
  for (unsigned turn = self; turn < turns; turn += 2) {
    OK(cuStreamWaitValue32(stream, address, turn, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWriteValue32(stream, address, turn + 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  }
  OK(cuStreamSynchronize(stream));
  // A write in flight dies with its process: stay until the last one of ours has arrived.
  while (__atomic_load_n(words, __ATOMIC_ACQUIRE) < turns - 1 + self) usleep(1000);
  return 0;
}

// Says when its kernel runs, and runs it until killed.
int PlayVictim() {
  const Program program;
  const CUstream stream = MakeStream();
  CUdeviceptr memory;
  OK(cuMemAlloc(&memory, std::size_t{1} << 30));
  LaunchTimed(program.Function("timed"), stream, 600'000'000'000);
  std::printf("running\n");
  std::fflush(stdout);
  OK(cuStreamSynchronize(stream));
  return 0;
}

// Takes the lock of the GPU as often as it can, until killed.
int PlayHammer() {
  const Program program;
  const CUfunction timed = program.Function("timed");
  const CUstream stream = MakeStream();
  for (bool said = false;; said = true) {
    for (unsigned long long ns = 1; ns < 50; ++ns) LaunchTimed(timed, stream, ns * 20);
    OK(cuStreamSynchronize(stream));
    if (said) continue;
    std::printf("running\n");
    std::fflush(stdout);
  }
}

// Prints the time of a kernel of `ns` beside whatever else runs.
int PlayKernel(unsigned long long ns) {
  const Program program;
  const CUstream stream = MakeStream();
  CUevent begin, end;
  OK(cuEventCreate(&begin, 0));
  OK(cuEventCreate(&end, 0));
  OK(cuEventRecord(begin, stream));
  LaunchTimed(program.Function("timed"), stream, ns);
  OK(cuEventRecord(end, stream));
  OK(cuStreamSynchronize(stream));
  float ms = 0;
  OK(cuEventElapsedTime(&ms, begin, end));
  std::size_t free_bytes = 0, total = 0;
  OK(cuMemGetInfo(&free_bytes, &total));
  std::printf("%.4f %zu\n", static_cast<double>(ms), total - free_bytes);
  return 0;
}

// A job: `steps` times c of compute and m of a spinning collective, from `start` on. Prints when each step
// began.
int PlayJob(long long start, long long c, long long m, int steps) {
  const Program program;
  const CUfunction timed = program.Function("timed"), ring = program.Function("ring");
  const CUstream compute = MakeStream(), side = MakeStream(), release = MakeStream();
  CUevent computed;
  OK(cuEventCreate(&computed, CU_EVENT_DISABLE_TIMING));
  unsigned* words = nullptr;
  OK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  auto word = reinterpret_cast<CUdeviceptr>(words);
  const auto sleep_until = [](long long time) {
    const timespec until{static_cast<time_t>(time / 1'000'000'000), static_cast<long>(time % 1'000'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  };
  sleep_until(start);
  for (unsigned step = 1; step <= static_cast<unsigned>(steps); ++step) {
    std::printf("%lld\n", Now());
    for (int i = 0; i < 20; ++i) LaunchTimed(timed, compute, static_cast<unsigned long long>(c / 20));
    OK(cuEventRecord(computed, compute));
    OK(cuStreamWaitEvent(side, computed, 0));
    void* parameters[] = {&word, &step};
    Launch(ring, side, parameters);
    OK(cuEventSynchronize(computed));
    sleep_until(Now() + m);
    OK(cuStreamWriteValue32(release, word, step, CU_STREAM_WRITE_VALUE_DEFAULT));
    OK(cuStreamSynchronize(side));
  }
  return 0;
}

// A forked child of a process that uses the driver has no driver.
int PlayFork() {
  const Program program;
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    _exit(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(cuCtxSynchronize());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 2);
  const std::string part = argv[1];
  const auto number = [&](int i) { return i < argc ? std::atoll(argv[i]) : 0; };
  if (part == "pingpong") {
    return PlayPingPong(argv[2], static_cast<unsigned>(number(3)), static_cast<unsigned>(number(4)));
  }
  if (part == "victim") return PlayVictim();
  if (part == "hammer") return PlayHammer();
  if (part == "kernel") return PlayKernel(static_cast<unsigned long long>(number(2)));
  if (part == "job") return PlayJob(number(2), number(3), number(4), static_cast<int>(number(5)));
  if (part == "fork") return PlayFork();
  return 2;
}

// Shares a GPU or a word with another process. The first argument names the part to play; the part's own
// arguments follow.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "tests/process/simgpu/probe.h"

// Prints when the kernel runs whose effect this function is.
extern "C" __attribute__((visibility("default"))) void SayRunning(void* const*) {
  std::printf("running %lld\n", Now());
  std::fflush(stdout);
}

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

// Hands a turn between streams of two processes. Even turns are ours when `self` is 0.
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
  // A write in flight is lost with its process, so stay until our last one has arrived.
  while (__atomic_load_n(words, __ATOMIC_ACQUIRE) < turns - 1 + self) usleep(1000);
  return 0;
}

// Prints when its kernel has the GPU, and runs it until it is killed. The software GPU calls the function of
// a kernel at once when the kernel begins; the return of the launch says only that the kernel is queued.
int PlayVictim() {
  const Program program(
      "// simgpu 1\n"
      "kernel timed ns=arg sms=132 fn=SayRunning\n");
  const CUstream stream = MakeStream();
  CUdeviceptr memory;
  OK(cuMemAlloc(&memory, std::size_t{1} << 30));
  LaunchTimed(program.Function("timed"), stream, 600'000'000'000);
  OK(cuStreamSynchronize(stream));
  return 0;
}

// Takes the GPU's lock as often as it can, until it is killed.
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

constexpr char kMoreKernels[] =
    "// simgpu 1\n"
    "kernel timed ns=arg sms=132\n"
    "kernel gridded ns=arg\n"
    "kernel ring ns=5000000 sms=4 fn=SayRunning spin\n";

// Holds the SMs of a collective until it is killed. Prints when it is queued (stderr), and when it has the
// SMs.
int PlayCollective() {
  const Program program(kMoreKernels);
  const CUstream stream = MakeStream();
  unsigned* words = nullptr;
  OK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  auto word = reinterpret_cast<CUdeviceptr>(words);
  unsigned never = 1;
  void* parameters[] = {&word, &never};
  Launch(program.Function("ring"), stream, parameters);
  std::fprintf(stderr, "queued\n");
  OK(cuStreamSynchronize(stream));
  return 0;
}

// Prints how long a collective of at least 5 ms takes beside whatever else runs.
int PlayShortCollective() {
  const Program program(kMoreKernels);
  const CUstream stream = MakeStream();
  unsigned* words = nullptr;
  OK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  auto word = reinterpret_cast<CUdeviceptr>(words);
  unsigned already = 0;
  void* parameters[] = {&word, &already};
  const long long begin = Now();
  Launch(program.Function("ring"), stream, parameters);
  OK(cuStreamSynchronize(stream));
  std::printf("%.4f\n", static_cast<double>(Now() - begin) * 1e-6);
  return 0;
}

// Prints the time of a kernel of `ns` beside whatever else runs. If `blocks` is not 0, the launch has so
// many blocks of 1024 threads, which say how many SMs it fills.
int PlayKernel(unsigned long long ns, unsigned blocks) {
  const Program program(kMoreKernels);
  const CUstream stream = MakeStream();
  CUevent begin, end;
  OK(cuEventCreate(&begin, 0));
  OK(cuEventCreate(&end, 0));
  // All of it is queued behind a gate, and the time begins at the end of a kernel, so nothing depends on
  // the host. That kernel is long enough to make up alone for a thread that came late to the gate.
  unsigned* words = nullptr;
  OK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  const auto gate = reinterpret_cast<CUdeviceptr>(words);
  OK(cuStreamWaitValue32(stream, gate, 1, CU_STREAM_WAIT_VALUE_GEQ));
  LaunchTimed(program.Function("timed"), stream, 1'000'000);
  OK(cuEventRecord(begin, stream));
  void* parameters[] = {&ns};
  if (blocks == 0) {
    Launch(program.Function("timed"), stream, parameters);
  } else {
    OK(cuLaunchKernel(program.Function("gridded"), blocks, 1, 1, 1024, 1, 1, 0, stream, parameters, nullptr));
  }
  OK(cuEventRecord(end, stream));
  OK(cuStreamWriteValue32(MakeStream(), gate, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  OK(cuStreamSynchronize(stream));
  float ms = 0;
  OK(cuEventElapsedTime(&ms, begin, end));
  std::size_t free_bytes = 0, total = 0;
  OK(cuMemGetInfo(&free_bytes, &total));
  std::printf("%.4f %zu\n", static_cast<double>(ms), total - free_bytes);
  return 0;
}

// Prints how many SMs the GPU has, as the driver reports it.
int PlaySms() {
  const Program program;
  int sms = 0;
  OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, program.device));
  std::printf("%d\n", sms);
  return 0;
}

// Returns the time of CLOCK_MONOTONIC at which `event` was reached on an idle stream, in ns. The error is
// half of the narrowest of 20 brackets.
long long Anchor(CUevent event, CUstream stream) {
  long long best = 0, narrowest = 1'000'000'000;
  for (int i = 0; i < 20; ++i) {
    const long long before = Now();
    CUevent probe;
    OK(cuEventCreate(&probe, CU_EVENT_DEFAULT));
    OK(cuEventRecord(probe, stream));
    OK(cuEventSynchronize(probe));
    const long long width = Now() - before;
    if (width < narrowest) {
      float ms = 0;
      OK(cuEventElapsedTime(&ms, event, probe));
      narrowest = width;
      best = before + width / 2 - static_cast<long long>(static_cast<double>(ms) * 1e6);
    }
    OK(cuEventDestroy(probe));
  }
  return best;
}

// Runs a job: `steps` times c ns of compute and m ns of a spinning collective, from `start` on. Prints for
// each step, in ns of CLOCK_MONOTONIC, when its compute began and ended and when its collective had ended,
// as the GPU saw it.
int PlayJob(long long start, long long c, long long m, int steps) {
  const Program program;
  const CUfunction timed = program.Function("timed"), ring = program.Function("ring");
  const CUstream compute = MakeStream(), side = MakeStream(), release = MakeStream();
  CUevent base;
  OK(cuEventCreate(&base, CU_EVENT_DEFAULT));
  OK(cuEventRecord(base, compute));
  OK(cuEventSynchronize(base));
  const long long zero = Anchor(base, compute);
  unsigned* words = nullptr;
  OK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  auto done = reinterpret_cast<CUdeviceptr>(words);
  const CUdeviceptr gate = done + 8;
  const auto sleep_until = [](long long time) {
    const timespec until{static_cast<time_t>(time / 1'000'000'000), static_cast<long>(time % 1'000'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  };
  std::vector<CUevent> events(static_cast<std::size_t>(3 * steps));
  for (CUevent& event : events) OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  sleep_until(start);
  for (unsigned step = 1; step <= static_cast<unsigned>(steps); ++step) {
    CUevent* const of = &events[std::size_t{3} * (step - 1)];
    // All of it is queued behind a gate, so that nothing depends on how fast the host is.
    OK(cuStreamWaitValue32(compute, gate, step, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuEventRecord(of[0], compute));
    for (int i = 0; i < 20; ++i) LaunchTimed(timed, compute, static_cast<unsigned long long>(c / 20));
    OK(cuEventRecord(of[1], compute));
    OK(cuStreamWaitEvent(side, of[1], 0));
    void* parameters[] = {&done, &step};
    Launch(ring, side, parameters);
    OK(cuEventRecord(of[2], side));
    OK(cuStreamWriteValue32(release, gate, step, CU_STREAM_WRITE_VALUE_DEFAULT));
    OK(cuEventSynchronize(of[1]));
    sleep_until(Now() + m);
    OK(cuStreamWriteValue32(release, done, step, CU_STREAM_WRITE_VALUE_DEFAULT));
    OK(cuStreamSynchronize(side));
  }
  for (std::size_t i = 0; i < events.size(); ++i) {
    float ms = 0;
    OK(cuEventElapsedTime(&ms, base, events[i]));
    std::printf("%lld%c", zero + static_cast<long long>(static_cast<double>(ms) * 1e6),
                i % 3 == 2 ? '\n' : ' ');
  }
  return 0;
}

// Checks that a forked child of a process that uses the driver has no driver.
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
  if (part == "kernel") {
    return PlayKernel(static_cast<unsigned long long>(number(2)), static_cast<unsigned>(number(3)));
  }
  if (part == "sms") return PlaySms();
  if (part == "collective") return PlayCollective();
  if (part == "short_collective") return PlayShortCollective();
  if (part == "job") return PlayJob(number(2), number(3), number(4), static_cast<int>(number(5)));
  if (part == "fork") return PlayFork();
  return 2;
}

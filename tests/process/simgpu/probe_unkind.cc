// Shows what a software GPU does that is less kind than usual. The first argument names the part to play; the
// part's own arguments follow.
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/process/simgpu/probe.h"

namespace {

CUevent MakeEvent() {
  CUevent event;
  OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  return event;
}

CUdeviceptr Words() {
  unsigned* words = nullptr;
  OK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  return reinterpret_cast<CUdeviceptr>(words);
}

// Returns the address of word `i`. Words lie apart as counters of several clients do.
CUdeviceptr At(CUdeviceptr words, unsigned i) { return words + std::size_t{64} * i; }

unsigned Read(CUdeviceptr word) {
  return __atomic_load_n(reinterpret_cast<const unsigned*>(word), __ATOMIC_SEQ_CST);
}
void Write(CUdeviceptr word, unsigned value) {
  __atomic_store_n(reinterpret_cast<unsigned*>(word), value, __ATOMIC_SEQ_CST);
}

CUstreamBatchMemOpParams WriteOf(CUdeviceptr word, unsigned value) {
  CUstreamBatchMemOpParams operation{};
  operation.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operation.writeValue.address = word;
  operation.writeValue.value = value;
  return operation;
}
CUstreamBatchMemOpParams WaitOf(CUdeviceptr word, unsigned value) {
  CUstreamBatchMemOpParams operation{};
  operation.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operation.waitValue.address = word;
  operation.waitValue.value = value;
  operation.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  return operation;
}

// A kernel spins on one stream, and 8 other streams write a word each. Waits until `come` words are there and
// ends the kernel. Prints how many words came after its end.
int PlayChannels(int come) {
  const Program program;
  const CUdeviceptr words = Words();
  const CUstream spins = MakeStream();
  std::vector<CUstream> streams;
  for (int i = 0; i < 8; ++i) streams.push_back(MakeStream());
  auto done = At(words, 0);
  unsigned one = 1;
  void* parameters[] = {&done, &one};
  Launch(program.Function("ring"), spins, parameters);
  std::vector<CUevent> written;
  for (unsigned i = 0; i < streams.size(); ++i) {
    OK(cuStreamWriteValue32(streams[i], At(words, i + 1), 1, CU_STREAM_WRITE_VALUE_DEFAULT));
    written.push_back(MakeEvent());
    OK(cuEventRecord(written.back(), streams[i]));
  }
  for (int here = 0; here < come; usleep(100)) {
    here = 0;
    for (unsigned i = 1; i <= streams.size(); ++i) here += Read(At(words, i)) == 1;
  }
  const CUevent still_spins = MakeEvent();
  OK(cuEventRecord(still_spins, MakeStream()));
  OK(cuEventSynchronize(still_spins));
  Write(done, 1);
  OK(cuCtxSynchronize());
  int late = 0;
  for (const CUevent event : written) {
    float ms = 0;
    OK(cuEventElapsedTime(&ms, still_spins, event));
    late += ms > 0;
  }
  std::printf("%d\n", late);
  return 0;
}

// Makes a stream without work, one with a write, and one whose kernel spins, behind that write. Prints
// whether the first two are done while the kernel spins, and the third one.
int PlayQueries() {
  const Program program;
  const CUdeviceptr words = Words();
  const CUstream idle = MakeStream(), writes = MakeStream(), spins = MakeStream();
  OK(cuStreamWriteValue32(writes, At(words, 1), 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  OK(cuStreamSynchronize(writes));
  auto done = At(words, 0);
  unsigned one = 1;
  void* parameters[] = {&done, &one};
  Launch(program.Function("ring"), spins, parameters);
  for (const CUstream stream : {idle, writes, spins})
    std::printf("%d", cuStreamQuery(stream) == CUDA_SUCCESS);
  OK(cuStreamSynchronize(idle));
  OK(cuStreamWriteValue32(writes, At(words, 1), 2, CU_STREAM_WRITE_VALUE_DEFAULT));
  std::printf("%d\n", cuStreamQuery(writes) == CUDA_SUCCESS);
  Write(done, 1);
  OK(cuStreamSynchronize(writes));
  CHECK(Read(At(words, 1)) == 2);
  OK(cuStreamSynchronize(spins));
  return 0;
}

// Plays a litmus test. A stream writes x and then waits for y, in one list or in two calls, perhaps with a
// barrier between. The host shuts y and then reads x. Prints in how many rounds the stream passed y although
// x was not seen.
int PlayLitmus(const std::string& how, int rounds) {
  const Program program;
  const CUdeviceptr words = Words(), marker = At(words, 0), x = At(words, 1), y = At(words, 2),
                    z = At(words, 3);
  const CUstream stream = MakeStream();
  int passed_unseen = 0;
  for (unsigned k = 1; k <= static_cast<unsigned>(rounds); ++k) {
    Write(y, k);
    CUstreamBatchMemOpParams barrier{};
    barrier.operation = CU_STREAM_MEM_OP_BARRIER;
    std::vector<CUstreamBatchMemOpParams> list = {WaitOf(At(words, 4), k), WriteOf(marker, k), WriteOf(x, k)};
    if (how == "barrier") list.push_back(barrier);
    if (how != "calls") list.insert(list.end(), {WaitOf(y, k), WriteOf(z, k)});
    OK(cuStreamBatchMemOp(stream, static_cast<unsigned>(list.size()), list.data(), 0));
    if (how == "calls") {
      OK(cuStreamWaitValue32(stream, y, k, CU_STREAM_WAIT_VALUE_GEQ));
      OK(cuStreamWriteValue32(stream, z, k, CU_STREAM_WRITE_VALUE_DEFAULT));
    }
    OK(cuStreamWriteValue32(MakeStream(), At(words, 4), k, CU_STREAM_WRITE_VALUE_DEFAULT));
    while (Read(marker) != k) {
    }
    const long long wait = Now() + 200'000;  // the stream's thread comes to its next step
    while (Now() < wait) {
    }
    Write(y, k - 1);
    const bool unseen = Read(x) != k;
    while (Read(x) != k) {
    }
    const long long enough = Now() + 5'000'000;  // a stream that has passed writes z at once
    while (Read(z) != k && Now() < enough) {
    }
    passed_unseen += unseen && Read(z) == k;
    Write(y, k);
    OK(cuStreamSynchronize(stream));
  }
  std::printf("%d\n", passed_unseen);
  return 0;
}

// One stream writes a word for which another waits. Prints for each round the time on the GPU from before the
// write until the other goes on, in ms.
int PlayHandover(int rounds) {
  const Program program;
  const CUdeviceptr word = Words();
  const CUstream writes = MakeStream(), waits = MakeStream();
  for (unsigned k = 1; k <= static_cast<unsigned>(rounds); ++k) {
    const CUevent before = MakeEvent(), after = MakeEvent();
    OK(cuStreamWaitValue32(waits, word, k, CU_STREAM_WAIT_VALUE_GEQ));
    OK(cuEventRecord(after, waits));
    OK(cuEventRecord(before, writes));
    OK(cuStreamWriteValue32(writes, word, k, CU_STREAM_WRITE_VALUE_DEFAULT));
    OK(cuEventSynchronize(after));
    float ms = 0;
    OK(cuEventElapsedTime(&ms, before, after));
    std::printf("%.4f ", static_cast<double>(ms));
  }
  std::printf("\n");
  return 0;
}

// Stands at a word with `streams` streams until the process is killed or its work fails. The word is in
// memory of the GPU if `where` says device.
int PlayBlocked(unsigned streams, const std::string& where) {
  const Program program;
  const CUdeviceptr words = Words();
  CUdeviceptr word = words;
  if (where == "device") {
    OK(cuMemAlloc(&word, 4096));
    OK(cuMemsetD32(word, 0, 1));
    OK(cuCtxSynchronize());
  }
  for (unsigned i = 0; i < streams; ++i) {
    const CUstream stream = MakeStream();
    OK(cuStreamWriteValue32(stream, At(words, i + 1), 1, CU_STREAM_WRITE_VALUE_DEFAULT));
    OK(cuStreamWaitValue32(stream, word, 1, CU_STREAM_WAIT_VALUE_GEQ));
  }
  for (unsigned i = 0; i < streams; ++i) {
    while (Read(At(words, i + 1)) == 0) usleep(100);
  }
  std::printf("blocked\n");
  std::fflush(stdout);
  OK(cuCtxSynchronize());
  return 0;
}

// Launches a kernel on an idle stream four times while another stream is busy. Prints each time whether the
// other stream was idle when the launch returned, then what the driver says about loading, and to stderr how
// long the first launch took, in ms.
int PlayLoading(const std::string& how) {
  const Program program("// simgpu 1\nkernel timed ns=arg sms=66\nkernel other ns=arg sms=66\n");
  const CUfunction timed = program.Function("timed"), other = program.Function("other");
  const CUstream busy = MakeStream(), idle = MakeStream();
  CUmoduleLoadingMode mode;
  OK(cuModuleGetLoadingMode(&mode));
  CUfunctionLoadingState before, after;
  OK(cuFuncIsLoaded(&before, other));
  if (how == "load") OK(cuFuncLoad(other));
  for (int i = 0; i < 4; ++i) {
    LaunchTimed(timed, busy, 100'000'000);
    const long long begin = Now();
    LaunchTimed(other, idle, 1000);
    if (i == 0) std::fprintf(stderr, "%.3f", static_cast<double>(Now() - begin) * 1e-6);
    std::printf("%d ", cuStreamQuery(busy) == CUDA_SUCCESS);
    OK(cuCtxSynchronize());
  }
  OK(cuFuncIsLoaded(&after, other));
  std::printf("%s %d %d\n", mode == CU_MODULE_LAZY_LOADING ? "lazy" : "eager",
              before == CU_FUNCTION_LOADING_STATE_LOADED, after == CU_FUNCTION_LOADING_STATE_LOADED);
  return 0;
}

CUstream last_stream;

// Says what the driver answers to the thread that runs exit handlers.
void AskAfterTheDriver() { std::printf("%d\n", static_cast<int>(cuStreamQuery(last_stream))); }

// Ends by a return from main() while another thread asks the driver again and again, or while none does.
int PlayExit(const std::string& how) {
  std::atexit(AskAfterTheDriver);  // before cuInit, so that it runs behind the driver's own handler
  const Program program;
  last_stream = MakeStream();
  if (how == "alone") return 0;
  std::thread([stream = last_stream] {
    for (;;) cuStreamQuery(stream);
  }).detach();
  return 0;
}

int launched = 0;

// Launches ten kernels. Prints how many there were when the process ends.
int PlayLaunches() {
  const Program program;
  std::atexit([] { std::printf("%d\n", launched); });
  const CUstream stream = MakeStream();
  for (; launched < 10; ++launched) LaunchTimed(program.Function("timed"), stream, 1'000'000'000);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc >= 2);
  const std::string part = argv[1], word = argc > 2 ? argv[2] : "";
  const auto number = [&](int i) { return i < argc ? std::atoi(argv[i]) : 0; };
  if (part == "channels") return PlayChannels(number(2));
  if (part == "queries") return PlayQueries();
  if (part == "litmus") return PlayLitmus(word, number(3));
  if (part == "handover") return PlayHandover(number(2));
  if (part == "blocked") return PlayBlocked(static_cast<unsigned>(number(2)), argc > 3 ? argv[3] : "");
  if (part == "loading") return PlayLoading(word);
  if (part == "exit") return PlayExit(word);
  if (part == "launches") return PlayLaunches();
  return 2;
}

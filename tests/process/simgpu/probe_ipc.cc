// Shares an event between two processes, by its handle, in both directions. Prints "shared" if all of it
// holds.
#include <cuda.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "tests/process/simgpu/probe.h"
#include "tests/process/use_device.h"

namespace {

constexpr unsigned kFlags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;

// A Peer is the other process. Both take steps in turn.
class Peer {
 public:
  explicit Peer(int fd) : fd_(fd) {}
  template <typename T>
  void Send(const T& value) const {
    CHECK(write(fd_, &value, sizeof value) == static_cast<ssize_t>(sizeof value));
  }
  template <typename T>
  T Receive() const {
    T value;
    CHECK(read(fd_, &value, sizeof value) == static_cast<ssize_t>(sizeof value));
    return value;
  }
  void Step() const { Send('.'); }
  void Await() const { CHECK(Receive<char>() == '.'); }

 private:
  int fd_;
};

// A Gate holds a stream until it is opened.
class Gate {
 public:
  explicit Gate(CUstream stream) {
    void* memory = nullptr;
    OK(cuMemHostAlloc(&memory, sizeof *word_, CU_MEMHOSTALLOC_DEVICEMAP));
    word_ = static_cast<volatile std::uint32_t*>(memory);
    *word_ = 0;
    CUdeviceptr address = 0;
    OK(cuMemHostGetDevicePointer(&address, memory, 0));
    OK(cuStreamWaitValue32(stream, address, 1, CU_STREAM_WAIT_VALUE_GEQ));
  }
  void Open() { *word_ = 1; }

 private:
  volatile std::uint32_t* word_ = nullptr;
};

CUstream Start() {
  OK(cuInit(0));
  OK(UseDevice(0));
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

void Export(const Peer& peer) {
  const CUstream stream = Start();
  CUevent event, plain;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuEventCreate(&event, CU_EVENT_INTERPROCESS));
  OK(cuEventCreate(&event, kFlags));
  OK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
  CUipcEventHandle handle;
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&handle, plain));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuIpcGetEventHandle(nullptr, event));
  OK(cuIpcGetEventHandle(&handle, event));
  CUevent own;
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenEventHandle(&own, handle));
  peer.Send(handle);
  peer.Await();  // the peer has opened it

  Gate gate(stream);
  OK(cuEventRecord(event, stream));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  peer.Step();
  peer.Await();  // the peer's stream waits for it
  gate.Open();
  peer.Await();  // the peer has recorded it behind a gate of its own
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  OK(cuStreamWaitEvent(stream, event, 0));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  peer.Step();
  OK(cuStreamSynchronize(stream));
  OK(cuEventQuery(event));
  OK(cuEventDestroy(event));
}

void Import(const Peer& peer) {
  const CUstream stream = Start();
  auto handle = peer.Receive<CUipcEventHandle>();
  CUevent event, again;
  OK(cuIpcOpenEventHandle(&event, handle));
  OK(cuEventQuery(event));  // it was never recorded
  OK(cuStreamWaitEvent(stream, event, 0));
  OK(cuStreamSynchronize(stream));
  CUipcEventHandle exported;
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuIpcGetEventHandle(&exported, event));
  handle.reserved[0] ^= 1;
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuIpcOpenEventHandle(&again, handle));
  peer.Step();

  peer.Await();  // the event is recorded and not reached
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  OK(cuStreamWaitEvent(stream, event, 0));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  peer.Step();
  OK(cuStreamSynchronize(stream));
  OK(cuEventSynchronize(event));
  OK(cuEventQuery(event));

  Gate gate(stream);
  OK(cuEventRecord(event, stream));
  peer.Step();
  peer.Await();  // the peer's stream waits for it
  gate.Open();
  OK(cuStreamSynchronize(stream));
  float ms = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, event, event));
  OK(cuEventDestroy(event));
}

}  // namespace

int main() {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  close(ends[child == 0 ? 0 : 1]);
  if (child == 0) {
    Import(Peer(ends[1]));
    return 0;
  }
  Export(Peer(ends[0]));
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  std::printf("shared\n");
  return 0;
}

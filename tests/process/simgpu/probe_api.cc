// Calls the driver API from a program linked to it, and checks what the calls do within one process.
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/process/simgpu/probe.h"

extern "C" __attribute__((visibility("default"))) void AddOne(void* const* arguments) {
  int* values = nullptr;
  std::uint64_t count = 0;
  std::memcpy(&values, arguments[0], sizeof values);
  std::memcpy(&count, arguments[1], sizeof count);
  for (std::uint64_t i = 0; i < count; ++i) ++values[i];
}

namespace {

// Holds a stream up until it is opened, so that nothing here depends on how fast the machine is.
class Gate {
 public:
  Gate() : opener_(MakeStream()) {
    OK(cuMemHostAlloc(reinterpret_cast<void**>(&word_), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  }
  void Shut(CUstream stream) {
    OK(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(word_), ++turn_, CU_STREAM_WAIT_VALUE_GEQ));
  }
  void Open() { OK(cuStreamWriteValue32(opener_, reinterpret_cast<CUdeviceptr>(word_), turn_, 0)); }

 private:
  CUstream opener_;
  unsigned* word_ = nullptr;
  unsigned turn_ = 0;
};

void StreamsAndEvents(const Program& program) {
  const CUstream compute = MakeStream(), side = MakeStream();
  CUevent begin, end, quick;
  OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  OK(cuEventCreate(&quick, CU_EVENT_DISABLE_TIMING));
  const CUfunction timed = program.Function("timed");
  Gate gate;
  gate.Shut(compute);
  OK(cuEventRecord(begin, compute));
  for (int i = 0; i < 3; ++i) LaunchTimed(timed, compute, 2'000'000);
  OK(cuEventRecord(end, compute));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuEventQuery(end));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(compute));
  gate.Open();
  for (int i = 0; i < 60; ++i) LaunchTimed(timed, compute, 10'000);  // more than a small queue holds
  OK(cuStreamWaitEvent(side, end, 0));
  OK(cuEventRecord(quick, side));
  OK(cuEventSynchronize(quick));
  OK(cuEventQuery(end));
  float ms = 0;
  OK(cuEventElapsedTime(&ms, begin, end));
  CHECK(ms >= 6.0F);  // three kernels of 2 ms cannot take less
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, quick, end));
  OK(cuStreamSynchronize(compute));
  OK(cuStreamQuery(compute));
  OK(cuStreamDestroy(side));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize(side));
}

// The legacy stream and the blocking streams wait for each other. Non-blocking streams are independent of
// both.
void LegacyStream(const Program& program) {
  CUstream blocking;
  OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  const CUstream apart = MakeStream();
  CUevent event;
  OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  const CUfunction timed = program.Function("timed");
  Gate gate;
  gate.Shut(blocking);
  LaunchTimed(timed, blocking, 1'000'000);
  OK(cuEventRecord(event, nullptr));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  OK(cuStreamSynchronize(apart));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(blocking));
  gate.Open();
  OK(cuStreamSynchronize(nullptr));
  OK(cuStreamQuery(blocking));
  gate.Shut(nullptr);
  LaunchTimed(timed, nullptr, 1'000'000);
  OK(cuEventRecord(event, blocking));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  gate.Open();
  OK(cuEventSynchronize(event));
  OK(cuStreamQuery(nullptr));
}

void MemoryAndKernels(const Program& program) {
  std::vector<int> values(1000, 41);
  CUdeviceptr memory;
  const CUstream stream = MakeStream();
  OK(cuMemAlloc(&memory, values.size() * sizeof(int)));
  OK(cuMemcpyHtoD(memory, values.data(), values.size() * sizeof(int)));
  std::uint64_t count = values.size();
  void* parameters[] = {&memory, &count};
  Launch(program.Function("add_one"), stream, parameters);
  count = 0;  // parameters are copied at launch
  OK(cuMemcpyDtoHAsync(values.data(), memory, values.size() * sizeof(int), stream));
  OK(cuStreamSynchronize(stream));
  CHECK(values.front() == 42 && values.back() == 42);
  OK(cuMemsetD32(memory, 7, 10));
  OK(cuMemcpyDtoH(values.data(), memory, 11 * sizeof(int)));
  CHECK(values[9] == 7 && values[10] == 42);
  unsigned type = 0;
  OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 8));
  CHECK(type == CU_MEMORYTYPE_DEVICE);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                                reinterpret_cast<CUdeviceptr>(&type)));
  OK(cuMemFree(memory));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(memory, values.data(), 4));
  OK(cuMemHostRegister(values.data(), 4096, CU_MEMHOSTREGISTER_DEVICEMAP));
  EXPECT_RESULT(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(values.data(), 16, 0));
  OK(cuMemHostGetDevicePointer(&memory, values.data(), 0));
  CHECK(memory == reinterpret_cast<CUdeviceptr>(values.data()));
  OK(cuMemHostUnregister(values.data()));
}

void MemoryLimit() {
  std::size_t free_bytes = 0, total = 0;
  OK(cuMemGetInfo(&free_bytes, &total));
  CUdeviceptr most, more;
  OK(cuMemAlloc(&most, free_bytes));
  EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&more, 1));
  OK(cuMemFree(most));
  OK(cuMemAlloc(&more, 1));
  OK(cuMemFree(more));
}

void MappedMemory() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  std::size_t page = 0;
  OK(cuMemGetAllocationGranularity(&page, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUmemGenericAllocationHandle memory, imported;
  OK(cuMemCreate(&memory, page, &properties, 0));
  int fd = -1;
  OK(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(fd)),
                                    CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
  CUdeviceptr address;
  OK(cuMemAddressReserve(&address, 2 * page, 0, 0, 0));
  OK(cuMemMap(address, page, 0, memory, 0));
  OK(cuMemMap(address + page, page, 0, imported, 0));
  CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  OK(cuMemSetAccess(address, page, &access, 1));
  OK(cuMemSetAccess(address + page, page, &access, 1));
  OK(cuMemsetD32(address, 5, 1));
  unsigned value = 0;
  OK(cuMemcpyDtoH(&value, address + page, sizeof value));
  CHECK(value == 5);
  for (const CUdeviceptr part : {address, address + page}) OK(cuMemUnmap(part, page));
  OK(cuMemAddressFree(address, 2 * page));
  OK(cuMemRelease(memory));
  OK(cuMemRelease(imported));
}

void MemoryOperations() {
  const CUstream stream = MakeStream(), other = MakeStream();
  unsigned* words = nullptr;
  OK(cuMemHostAlloc(reinterpret_cast<void**>(&words), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  const auto address = reinterpret_cast<CUdeviceptr>(words);
  words[0] = 0xfffffff0u;  // waits compare cyclically
  CUstreamBatchMemOpParams batch[2] = {};
  batch[0].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  batch[0].waitValue.address = address;
  batch[0].waitValue.value = 5;
  batch[0].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  batch[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  batch[1].writeValue.address = address + 8;
  batch[1].writeValue.value64 = 0x100000002;
  OK(cuStreamBatchMemOp(stream, 2, batch, 0));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
  OK(cuStreamWriteValue32(other, address, 6, 0));
  OK(cuStreamSynchronize(stream));
  CHECK(words[2] == 2 && words[3] == 1);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, cuStreamWriteValue32(other, address + 2, 6, 0));
  unsigned unknown = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                cuStreamWriteValue32(other, reinterpret_cast<CUdeviceptr>(&unknown), 6, 0));
  OK(cuMemFreeHost(words));
}

// Prints the times of runs of 20 ms, for the test to judge. The thread behind the stream wakes some tens of
// microseconds late after each kernel; a GPU would not be late.
void MemoryOperationsThatNeedNotWait(const Program& program) {
  constexpr int kKernels = 40;
  const CUstream stream = MakeStream();
  const CUfunction timed = program.Function("timed");
  unsigned* word = nullptr;
  OK(cuMemHostAlloc(reinterpret_cast<void**>(&word), 4096, CU_MEMHOSTALLOC_DEVICEMAP));
  CUevent begin, end;
  OK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
  OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
  std::printf("memory operations:");
  for (int run = 0; run < 9; ++run) {
    OK(cuEventRecord(begin, stream));
    for (int i = 0; i < kKernels; ++i) {
      LaunchTimed(timed, stream, 500'000);
      OK(cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(word), 0, CU_STREAM_WAIT_VALUE_GEQ));
    }
    OK(cuEventRecord(end, stream));
    OK(cuStreamSynchronize(stream));
    float ms = 0;
    OK(cuEventElapsedTime(&ms, begin, end));
    CHECK(ms >= 19.99F);  // the kernels take 20 ms
    std::printf(" %.3f", static_cast<double>(ms));
  }
  std::printf("\n");
  OK(cuMemFreeHost(word));
}

void Capture(const Program& program) {
  const CUstream stream = MakeStream(), side = MakeStream();
  CUevent fork, join;
  OK(cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
  CUdeviceptr counter;
  OK(cuMemAlloc(&counter, 4));
  OK(cuMemsetD32(counter, 0, 1));
  OK(cuCtxSynchronize());  // `stream` is not ordered after the legacy stream
  std::uint64_t count = 1;
  void* parameters[] = {&counter, &count};
  const CUfunction add_one = program.Function("add_one");
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  Launch(add_one, stream, parameters);
  OK(cuEventRecord(fork, stream));
  OK(cuStreamWaitEvent(side, fork, 0));
  Launch(add_one, side, parameters);
  OK(cuEventRecord(join, side));
  OK(cuStreamWaitEvent(stream, join, 0));
  CUstreamCaptureStatus status;
  OK(cuStreamIsCapturing(side, &status));
  CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CUgraph graph;
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, cuStreamEndCapture(side, &graph));
  OK(cuStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  OK(cuGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 2);
  CUgraphExec exec;
  OK(cuGraphInstantiate(&exec, graph, 0));
  OK(cuGraphDestroy(graph));
  for (int i = 0; i < 3; ++i) OK(cuGraphLaunch(exec, stream));
  OK(cuStreamSynchronize(stream));
  unsigned value = 0;
  OK(cuMemcpyDtoH(&value, counter, sizeof value));
  CHECK(value == 6);
  OK(cuGraphExecDestroy(exec));

  // A forbidden call invalidates the capture.
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(stream));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  CHECK(graph == nullptr);
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUdeviceptr refused;
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc(&refused, 16));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  OK(cuMemAlloc(&refused, 16));
  OK(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, [&] {
    CUevent plain;
    OK(cuEventCreate(&plain, 0));
    OK(cuEventRecord(plain, side));
    return cuStreamWaitEvent(stream, plain, 0);
  }());
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(stream, &graph));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  OK(cuEventRecord(fork, stream));
  OK(cuStreamWaitEvent(side, fork, 0));
  Launch(add_one, side, parameters);
  EXPECT_RESULT(CUDA_ERROR_CAPTURED_EVENT, [&] {
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    OK(cuThreadExchangeStreamCaptureMode(&relaxed));
    const CUresult result = cuEventQuery(fork);
    OK(cuThreadExchangeStreamCaptureMode(&relaxed));
    return result;
  }());
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, cuStreamEndCapture(stream, &graph));
}

void Contexts(const Program& program) {
  CUcontext own, popped;
  OK(cuCtxCreate(&own, nullptr, 0, program.device));
  OK(cuCtxGetCurrent(&popped));
  CHECK(popped == own);
  OK(cuCtxDestroy(own));
  OK(cuCtxGetCurrent(&popped));
  CHECK(popped == program.context);
  OK(cuCtxSetCurrent(nullptr));
  CUstream stream;
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
  OK(cuCtxPushCurrent(program.context));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(own));
}

}  // namespace

int main() {
  int version = 0;
  EXPECT_RESULT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&version));
  const Program program(
      "// simgpu 1\n"
      "kernel timed ns=arg sms=132\n"
      "kernel add_one ns=1000 sms=1 args=8,8 fn=AddOne\n");
  OK(cuDriverGetVersion(&version));
  CHECK(version == 13000);
  StreamsAndEvents(program);
  LegacyStream(program);
  MemoryAndKernels(program);
  MemoryLimit();
  MappedMemory();
  MemoryOperations();
  MemoryOperationsThatNeedNotWait(program);
  Capture(program);
  Contexts(program);
  return 0;
}

// Tests streams, events and the errors that they leave behind.
#include "tests/process/simgpu/runtime/program.h"

namespace simgpu::runtime_test {
namespace {

class Stream : public Program {
 protected:
  Stream() { EXPECT_EQ(cudaStreamCreate(&stream_), cudaSuccess); }
  ~Stream() override {
    Release();
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }
  cudaStream_t stream_ = nullptr;
};

TEST_F(Stream, IsNotReadyWhileItWorksWhichIsALastErrorToo) {
  Hold(stream_);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  Release();
  OK(cudaStreamSynchronize(stream_));
  OK(cudaStreamQuery(stream_));
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(Stream, HoldsTheLegacyDefaultStreamAndNotThatOfTheThread) {
  Hold(stream_);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery_ptsz(nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
  Release();
  OK(cudaStreamSynchronize(nullptr));
}

TEST_F(Stream, HasWhatItWasMadeWith) {
  int least = -1, greatest = -1, priority = -1, device = -1;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_GT(least, greatest);
  cudaStream_t other = nullptr;
  OK(cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, greatest));
  OK(cudaStreamGetPriority(other, &priority));
  EXPECT_EQ(priority, greatest);
  unsigned flags = 0;
  OK(cudaStreamGetFlags(other, &flags));
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  unsigned long long ids[2] = {};
  OK(cudaStreamGetId(other, &ids[0]));
  OK(cudaStreamGetId(stream_, &ids[1]));
  EXPECT_NE(ids[0], ids[1]);
  OK(cudaStreamGetDevice(other, &device));
  EXPECT_EQ(device, 0);
  OK(cudaStreamDestroy(other));
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorInvalidResourceHandle);
}

TEST_F(Stream, WaitsForAnEventOfAnother) {
  cudaStream_t other = nullptr;
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaEvent_t event = nullptr;
  OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  Hold(stream_);
  OK(cudaEventRecord(event, stream_));
  OK(cudaStreamWaitEvent(other, event, 0));
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  Release();
  OK(cudaStreamSynchronize(other));
  OK(cudaEventQuery(event));
  OK(cudaEventDestroy(event));
  OK(cudaStreamDestroy(other));
}

TEST_F(Stream, IsTimedByEvents) {
  cudaEvent_t begin = nullptr, end = nullptr;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  unsigned long long ns = 3'000'000;
  void* arguments[] = {&ns};
  OK(cudaEventRecord(begin, stream_));
  OK(cudaLaunchKernel(&kTimed, 1, 32, arguments, 0, stream_));
  OK(cudaEventRecordWithFlags(end, stream_, cudaEventRecordDefault));
  OK(cudaEventSynchronize(end));
  float milliseconds = 0;
  OK(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 2.99F);  // a kernel takes no less than its image states
  OK(cudaEventDestroy(begin));
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, begin, end), cudaErrorInvalidResourceHandle);
  OK(cudaEventDestroy(end));
}

}  // namespace
}  // namespace simgpu::runtime_test

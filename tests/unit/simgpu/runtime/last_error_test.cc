#include "simgpu/runtime/last_error.h"

#include <gtest/gtest.h>

#include <thread>

namespace simgpu::runtime {
namespace {

TEST(LastError, IsReadWithoutChangeAndTakenOnce) {
  EXPECT_EQ(Keep(cudaErrorInvalidDevice), cudaErrorInvalidDevice);
  EXPECT_EQ(Peek(), cudaErrorInvalidDevice);
  EXPECT_EQ(Peek(), cudaErrorInvalidDevice);
  EXPECT_EQ(Take(), cudaErrorInvalidDevice);
  EXPECT_EQ(Take(), cudaSuccess);
}

TEST(LastError, SuccessDoesNotChangeItAndALaterErrorDoes) {
  Keep(cudaErrorInvalidValue);
  EXPECT_EQ(Keep(cudaSuccess), cudaSuccess);
  EXPECT_EQ(Peek(), cudaErrorInvalidValue);
  Keep(cudaErrorNotReady);
  EXPECT_EQ(Take(), cudaErrorNotReady);
}

TEST(LastError, BelongsToAThread) {
  Keep(cudaErrorInvalidValue);
  std::thread([] {
    EXPECT_EQ(Peek(), cudaSuccess);
    Keep(cudaErrorMemoryAllocation);
  }).join();
  EXPECT_EQ(Take(), cudaErrorInvalidValue);
}

// Each of these runs in a thread of its own, because a sticky error stays for as long as its thread.
TEST(LastError, StaysWhenItIsSticky) {
  for (const cudaError_t sticky :
       {cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable, cudaErrorIllegalAddress,
        cudaErrorLaunchTimeout, cudaErrorAssert, cudaErrorHardwareStackError, cudaErrorIllegalInstruction,
        cudaErrorMisalignedAddress, cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorLaunchFailure,
        cudaErrorTensorMemoryLeak, cudaErrorMpsClientTerminated}) {
    std::thread([sticky] {
      Keep(sticky);
      EXPECT_EQ(Take(), sticky);
      Keep(cudaErrorInvalidValue);
      EXPECT_EQ(Take(), sticky);
      EXPECT_EQ(Peek(), sticky);
    }).join();
  }
}

TEST(LastError, DoesNotStayOtherwise) {
  for (const cudaError_t passing :
       {cudaErrorMemoryAllocation, cudaErrorNotReady, cudaErrorLaunchOutOfResources, cudaErrorNotSupported,
        cudaErrorStreamCaptureInvalidated, cudaErrorInvalidDeviceFunction}) {
    Keep(passing);
    EXPECT_EQ(Take(), passing);
    EXPECT_EQ(Take(), cudaSuccess);
  }
}

TEST(LastError, HasTheNumberOfTheDriversResult) {
  EXPECT_EQ(ErrorOf(CUDA_ERROR_OUT_OF_MEMORY), cudaErrorMemoryAllocation);
  EXPECT_EQ(ErrorOf(CUDA_ERROR_INVALID_HANDLE), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(ErrorOf(CUDA_ERROR_NOT_READY), cudaErrorNotReady);
  EXPECT_EQ(ErrorOf(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD), cudaErrorStreamCaptureWrongThread);
}

}  // namespace
}  // namespace simgpu::runtime

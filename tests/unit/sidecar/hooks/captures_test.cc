// Tests that each function of the driver that begins or ends a capture is seen, over the software GPU's
// driver. It needs a process of its own, because it takes part in turns.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sidecar/hooks/cuda_hooks.h"
#include "sidecar/hooks/symbols.h"
#include "sidecar/session/session.h"

namespace crossover::hooks {
namespace {

constexpr CUstreamCaptureMode kMode = CU_STREAM_CAPTURE_MODE_RELAXED;

// Returns whether the primary context of the first device exists.
bool Active() {
  unsigned int flags = 0;
  int active = 0;
  return cuDevicePrimaryCtxGetState(0, &flags, &active) == CUDA_SUCCESS && active != 0;
}

bool AnyCapture() { return session::TheSession().AnyCapture(); }

// Calls the function as a hooked program reaches it.
template <typename... Arguments>
CUresult Hooked(const char* symbol, Arguments... arguments) {
  const auto wrapper = reinterpret_cast<CUresult (*)(Arguments...)>(FindWrapper(symbol).wrapper);
  return wrapper == nullptr ? CUDA_ERROR_NOT_FOUND : wrapper(arguments...);
}

class HookedCapturesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("CROSSOVER_GANG", "a", 1);
    setenv("SIMGPU_MACHINE", "1x1", 1);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  }
  void SetUp() override {
    CUcontext context = nullptr;
    ASSERT_EQ(Hooked("cuDevicePrimaryCtxRetain", &context, CUdevice{0}), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_FALSE(AnyCapture());
  }
  void TearDown() override {
    EXPECT_FALSE(AnyCapture());
    cuDevicePrimaryCtxReset(0);
  }

  CUresult Begin(CUstream stream) { return Hooked("cuStreamBeginCapture_v2", stream, kMode); }
  CUresult End(CUstream stream) { return Hooked("cuStreamEndCapture", stream, &graph_); }

  CUstream stream_ = nullptr;
  CUgraph graph_ = nullptr;
};

TEST_F(HookedCapturesTest, ACaptureIsSeenFromItsBeginToItsEnd) {
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  EXPECT_TRUE(AnyCapture());
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
}

TEST_F(HookedCapturesTest, ARecaptureIsACapture) {
  real_cuda<CudaHook::k_cuStreamBeginRecaptureToGraph>.store(
      [](CUstream stream, CUstreamCaptureMode mode, CUgraph, void*, void*) {
        return cuStreamBeginCapture(stream, mode);
      });
  ASSERT_EQ(Hooked("cuStreamBeginRecaptureToGraph", stream_, kMode, CUgraph{}, static_cast<void*>(nullptr),
                   static_cast<void*>(nullptr)),
            CUDA_SUCCESS);
  EXPECT_TRUE(AnyCapture());
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
}

TEST_F(HookedCapturesTest, AnEndWhoseBeginWasNotSeenHidesNoLaterCapture) {
  ASSERT_EQ(cuStreamBeginCapture(stream_, kMode), CUDA_SUCCESS);  // not through our hook
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  EXPECT_TRUE(AnyCapture());
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
}

TEST_F(HookedCapturesTest, ARefusedBeginLeavesTheCaptureThatGoesOn) {
  EXPECT_NE(Begin(CU_STREAM_LEGACY), CUDA_SUCCESS);
  EXPECT_FALSE(AnyCapture());
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  EXPECT_NE(Begin(stream_), CUDA_SUCCESS);
  EXPECT_TRUE(AnyCapture());
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
}

TEST_F(HookedCapturesTest, ARefusedEndEndsNothing) {
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  EXPECT_NE(Hooked("cuStreamEndCapture", stream_, static_cast<CUgraph*>(nullptr)), CUDA_SUCCESS);
  EXPECT_TRUE(AnyCapture());
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
}

TEST_F(HookedCapturesTest, ACaptureEndsWithItsStream) {
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  EXPECT_EQ(Hooked("cuStreamDestroy_v2", stream_), CUDA_SUCCESS);
}

TEST_F(HookedCapturesTest, ACaptureEndsWithItsContext) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  EXPECT_EQ(Hooked("cuCtxDestroy_v2", context), CUDA_SUCCESS);
}

TEST_F(HookedCapturesTest, ACaptureEndsWithTheResetOfItsDevice) {
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  EXPECT_EQ(Hooked("cuDevicePrimaryCtxReset_v2", CUdevice{0}), CUDA_SUCCESS);
}

// A library resets or releases the device that it has used, while the program captures in a context that it
// made itself.
TEST_F(HookedCapturesTest, ACaptureInAnotherContextGoesOnWhenThePrimaryOneEnds) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  EXPECT_EQ(Hooked("cuDevicePrimaryCtxReset_v2", CUdevice{0}), CUDA_SUCCESS);
  EXPECT_TRUE(AnyCapture());
  CUcontext primary = nullptr;
  ASSERT_EQ(Hooked("cuDevicePrimaryCtxRetain", &primary, CUdevice{0}), CUDA_SUCCESS);
  while (Active()) ASSERT_EQ(Hooked("cuDevicePrimaryCtxRelease_v2", CUdevice{0}), CUDA_SUCCESS);
  EXPECT_TRUE(AnyCapture());
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
}

// Until the driver has destroyed the stream, its capture goes on.
TEST_F(HookedCapturesTest, ACaptureCountsUntilItsStreamIsDestroyed) {
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  static bool seen;
  seen = false;
  real_cuda<CudaHook::k_cuStreamDestroy_v2>.store([](CUstream stream) {
    seen = AnyCapture();
    return cuStreamDestroy(stream);
  });
  EXPECT_EQ(Hooked("cuStreamDestroy_v2", stream_), CUDA_SUCCESS);
  EXPECT_TRUE(seen);
}

TEST_F(HookedCapturesTest, ACaptureWhoseStreamIsNotDestroyedGoesOn) {
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  real_cuda<CudaHook::k_cuStreamDestroy_v2>.store([](CUstream) { return CUDA_ERROR_UNKNOWN; });
  EXPECT_NE(Hooked("cuStreamDestroy_v2", stream_), CUDA_SUCCESS);
  EXPECT_TRUE(AnyCapture());
  EXPECT_EQ(End(stream_), CUDA_SUCCESS);
  real_cuda<CudaHook::k_cuStreamDestroy_v2>.store(&cuStreamDestroy);
}

TEST_F(HookedCapturesTest, ACaptureEndsWithTheLastUseOfItsDevice) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(Begin(stream_), CUDA_SUCCESS);
  EXPECT_EQ(Hooked("cuDevicePrimaryCtxRelease_v2", CUdevice{0}), CUDA_SUCCESS);
  EXPECT_TRUE(AnyCapture()) << "there is another user";
  EXPECT_EQ(Hooked("cuDevicePrimaryCtxRelease_v2", CUdevice{0}), CUDA_SUCCESS);
}

}  // namespace
}  // namespace crossover::hooks

// Tests on which books memory of pools is, over the software GPU's driver. It does not know pools of the
// host's memory, but hands out what the caller asks for.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "sidecar/hooks/cuda_hooks.h"
#include "sidecar/hooks/symbols.h"
#include "sidecar/memory/accounting.h"

namespace crossover::hooks {
namespace {

constexpr std::size_t kBytes = 1 << 20;

std::uint64_t Used() { return memory::TheAccounting().used(0); }

// Calls the function as a hooked program reaches it.
template <typename... Arguments>
CUresult HookedPool(const char* symbol, Arguments... arguments) {
  const auto wrapper = reinterpret_cast<CUresult (*)(Arguments...)>(FindWrapper(symbol).wrapper);
  return wrapper == nullptr ? CUDA_ERROR_NOT_FOUND : wrapper(arguments...);
}

class PoolsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("CROSSOVER_GANG", "a", 1);
    setenv("SIMGPU_MACHINE", "1x1", 1);
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(Used(), 0u); }

  static CUmemoryPool Pool(CUmemLocationType type) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {type, 0};
    CUmemoryPool pool = nullptr;
    const CUmemPoolProps* const read = &properties;
    EXPECT_EQ(HookedPool("cuMemPoolCreate", &pool, read), CUDA_SUCCESS);
    return pool;
  }
  // Allocates from the pool and frees again. Returns how much that took of the GPU's memory.
  static std::uint64_t Takes(CUmemoryPool pool) {
    CUdeviceptr address = 0;
    CUstream stream = nullptr;
    EXPECT_EQ(HookedPool("cuMemAllocFromPoolAsync", &address, kBytes, pool, stream), CUDA_SUCCESS);
    const std::uint64_t used = Used();
    EXPECT_EQ(HookedPool("cuMemFreeAsync", address, stream), CUDA_SUCCESS);
    return used;
  }
};

TEST_F(PoolsTest, OfTheGpuCount) { EXPECT_EQ(Takes(Pool(CU_MEM_LOCATION_TYPE_DEVICE)), kBytes); }

TEST_F(PoolsTest, OfTheHostDoNot) {
  EXPECT_EQ(Takes(Pool(CU_MEM_LOCATION_TYPE_HOST)), 0u);
  EXPECT_EQ(Takes(Pool(CU_MEM_LOCATION_TYPE_HOST_NUMA)), 0u);
}

TEST_F(PoolsTest, OfTheHostThatTheDriverHandsOutDoNot) {
  const CUmemoryPool pool = Pool(CU_MEM_LOCATION_TYPE_DEVICE);
  static CUmemoryPool found = nullptr;
  found = pool;
  real_cuda<CudaHook::k_cuMemGetDefaultMemPool>.store(
      [](CUmemoryPool* out, CUmemLocation*, CUmemAllocationType) {
        *out = found;
        return CUDA_SUCCESS;
      });
  CUmemLocation location{CU_MEM_LOCATION_TYPE_HOST, 0};
  CUmemoryPool out = nullptr;
  ASSERT_EQ(HookedPool("cuMemGetDefaultMemPool", &out, &location, CU_MEM_ALLOCATION_TYPE_PINNED),
            CUDA_SUCCESS);
  EXPECT_EQ(Takes(out), 0u);
}

TEST_F(PoolsTest, TheHandleOfADestroyedPoolMeansNothing) {
  const CUmemoryPool pool = Pool(CU_MEM_LOCATION_TYPE_HOST);
  std::int32_t device = 0;
  EXPECT_TRUE(memory::TheAccounting().FindPool(KeyOfPool(pool), &device));
  EXPECT_EQ(HookedPool("cuMemPoolDestroy", pool), CUDA_SUCCESS);
  EXPECT_FALSE(memory::TheAccounting().FindPool(KeyOfPool(pool), &device));
}

}  // namespace
}  // namespace crossover::hooks

#include "sidecar/hooks/nccl_kernels.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sidecar/hooks/bootstrap.h"
#include "sidecar/session/hook_flags.h"

namespace crossover::hooks {
namespace {

CUfunction Handle(std::uintptr_t value) { return reinterpret_cast<CUfunction>(value); }
bool LooksAtLaunches() { return (session::hook_flags & session::kHookKernels) != 0; }

TEST(NcclKernelsTest, NamesOfAllVersionsAreKnown) {
  for (const char* name : {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_SendRecv",
                           "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
                           "ncclKernel_AllReduce_RING_LL_Sum_float", "ncclSymkDevKernel_AllGather_LL",
                           "_Z34ncclAllReduceRingLLKernel_sum_f3212ncclWorkElem"}) {
    EXPECT_NE(NcclKernelNamed(name), 0) << name;
  }
}

TEST(NcclKernelsTest, OtherNamesAreNot) {
  for (const char* name :
       {"", "_Z", "_Z12", "nccl", "ncclDevKernel", "ncclKernels_sum", "my_ncclDevKernel_AllReduce",
        "_ZN4mine13ncclDevKernel_AllReduceEv", "Kernel_", "gradient_kernel"}) {
    EXPECT_EQ(NcclKernelNamed(name), 0) << name;
  }
}

TEST(NcclKernelsTest, NamesAreToldApart) {
  EXPECT_NE(NcclKernelNamed("ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
            NcclKernelNamed("ncclDevKernel_AllReduce_Sum_f16_RING_LL"));
}

// This test comes before the next one: once kernels of an NCCL were seen, calls are not enough any more.
TEST(NcclKernelsTest, CallsOfALoadedNcclAreEnoughUnlessOneIsLinkedToo) {
  OnCommunicator(&session::hook_flags, 1, 0);
  EXPECT_TRUE(LooksAtLaunches()) << "a single rank launches no kernels";
  OnCommunicator(&session::watching, 2, 0);
  EXPECT_FALSE(LooksAtLaunches());
  ExpectLinkedNccl();
  EXPECT_TRUE(LooksAtLaunches());
}

// This test follows one process from its start. There is no driver that could be asked for names.
TEST(NcclKernelsTest, LaunchesAreLookedAtWhileKernelsMayTellMoreThanCalls) {
  setenv("CROSSOVER_GANG", "a", 1);
  ASSERT_TRUE(Active());
  EXPECT_TRUE(LooksAtLaunches()) << "it is not known yet";
  OnKernelName(Handle(0x1000), "gradient", nullptr);
  OnKernelName(Handle(0x2000), "ncclDevKernel_SendRecv", nullptr);
  EXPECT_EQ(NcclKernelOf(Handle(0x1000)), 0);
  EXPECT_EQ(NcclKernelOf(Handle(0x2000)), NcclKernelNamed("ncclDevKernel_SendRecv"));
  EXPECT_EQ(NcclKernelOf(Handle(0x3000)), 0) << "asked for behind our back";
  for (std::uintptr_t i = 1; i < 100'000; ++i) NcclKernelOf(Handle(0x10000 + 16 * i));
  EXPECT_NE(NcclKernelOf(Handle(0x2000)), 0) << "more handles than there is room for";
  ForgetKernels();
  EXPECT_NE(NcclKernelOf(Handle(0x2000)), 0) << "this driver could not tell it again";
}

}  // namespace
}  // namespace crossover::hooks

// Tests what users hand to the library beside data: configurations, faults, names of kernels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "simgpu/nccl/config.h"
#include "simgpu/nccl/fault.h"
#include "simgpu/nccl/kernels.h"

namespace simgpu::nccl {
namespace {

using testing::HasSubstr;

TEST(ConfigTest, UndefinedMeansBlocking) {
  const ncclConfig_t given = NCCL_CONFIG_INITIALIZER;
  Config config;
  std::string error;
  EXPECT_TRUE(ReadConfig(&given, &config, &error)) << error;
  EXPECT_TRUE(config.blocking);
  EXPECT_EQ(config.most_ctas, 0);
}

TEST(ConfigTest, ReadsNoFurtherThanItsSize) {
  ncclConfig_t given = NCCL_CONFIG_INITIALIZER;
  given.size = offsetof(ncclConfig_t, minCTAs);  // an older program: what follows is not its own
  given.blocking = 0;
  given.minCTAs = -77;
  Config config;
  std::string error;
  EXPECT_TRUE(ReadConfig(&given, &config, &error)) << error;
  EXPECT_FALSE(config.blocking);
  EXPECT_EQ(config.least_ctas, 0);
}

TEST(ConfigTest, AcceptsALargerOneOfANewerProgram) {
  struct {
    ncclConfig_t known = NCCL_CONFIG_INITIALIZER;
    int later[8] = {};
  } given;
  given.known.size = sizeof given;
  Config config;
  std::string error;
  EXPECT_TRUE(ReadConfig(&given.known, &config, &error)) << error;
}

TEST(ConfigTest, RefusesWhatWasNotInitialised) {
  ncclConfig_t given;
  std::memset(&given, 0, sizeof given);
  Config config;
  std::string error;
  EXPECT_FALSE(ReadConfig(&given, &config, &error));
  EXPECT_THAT(error, HasSubstr("NCCL_CONFIG_INITIALIZER"));
  given = NCCL_CONFIG_INITIALIZER;
  given.magic = 0;
  EXPECT_FALSE(ReadConfig(&given, &config, &error));
}

TEST(ConfigTest, CtasStayWithinTheLimits) {
  ncclConfig_t given = NCCL_CONFIG_INITIALIZER;
  given.maxCTAs = 2;
  Config config;
  std::string error;
  ASSERT_TRUE(ReadConfig(&given, &config, &error)) << error;
  EXPECT_EQ(ChooseCtas(config, 4), 2);
  EXPECT_EQ(ChooseCtas(Config{}, 4), 4);
  given.minCTAs = 3;
  EXPECT_FALSE(ReadConfig(&given, &config, &error));
  EXPECT_THAT(error, HasSubstr("minCTAs=3"));
}

TEST(FaultTest, ReadsAList) {
  Fault fault;
  std::string error;
  ASSERT_TRUE(ParseFault("corrupt_byte:3,slow_link:1.1", &fault, &error)) << error;
  EXPECT_EQ(fault.corrupt_byte, 3u);
  EXPECT_EQ(fault.slow_link, 1.1);
  EXPECT_FALSE(fault.drop.has_value());
}

TEST(FaultTest, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"corrupt_byte", "corrupt_byte:x", "corrupt_byte:1x", "slow_link:0", "lose:1", ","}) {
    Fault fault;
    std::string error;
    EXPECT_FALSE(ParseFault(text, &fault, &error)) << text;
    EXPECT_THAT(error, HasSubstr("SIMGPU_NCCL_FAULT")) << text;
  }
}

TEST(KernelsTest, AreNamedAsNcclNamesThem) {
  EXPECT_EQ(KernelName({Function::kAllReduce, ncclFloat32, ncclSum, -1, 1}),
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(KernelName({Function::kBroadcast, ncclInt8, ncclSum, 0, 1}), "ncclDevKernel_Broadcast_RING_LL");
  EXPECT_EQ(KernelName({Function::kRecv, ncclInt8, ncclSum, 0, 1}), "ncclDevKernel_SendRecv");
}

TEST(KernelsTest, EveryImageHoldsEveryKernel) {
  for (const std::string& image : {KernelImage(4), KernelPtx()}) {
    EXPECT_THAT(image, HasSubstr("ncclDevKernel_ReduceScatter_Avg_bf16_RING_LL"));
    EXPECT_THAT(image, HasSubstr("ncclDevKernel_SendRecv"));
  }
  EXPECT_THAT(KernelImage(7), HasSubstr(" sms=7 "));
}

}  // namespace
}  // namespace simgpu::nccl

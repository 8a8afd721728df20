#include "common/gains/memory_bandwidth.h"

#include <gtest/gtest.h>

namespace crossover::gains {
namespace {

TEST(MemoryBandwidthTest, NamesAreThoseOfNvml) {
  EXPECT_EQ(MemoryBandwidthOf("NVIDIA A100-SXM4-80GB"), 2.039e12);
  EXPECT_EQ(MemoryBandwidthOf("NVIDIA A100-SXM4-40GB"), 1.555e12);
  EXPECT_EQ(MemoryBandwidthOf("NVIDIA L40S"), 8.64e11);
  EXPECT_EQ(MemoryBandwidthOf("NVIDIA L4"), 3.00e11);
  EXPECT_EQ(MemoryBandwidthOf("Tesla T4"), 3.20e11);
  EXPECT_EQ(MemoryBandwidthOf("a GPU of a later year"), 0);
  EXPECT_EQ(MemoryBandwidthOf(""), 0);
}

TEST(MemoryBandwidthTest, ANameWithinALongerWordIsAnotherGpu) {
  for (const char* gpu :
       {"NVIDIA RTX A4000", "NVIDIA RTX A1000 Laptop GPU", "NVIDIA RTX A3000 12GB Laptop GPU",
        "NVIDIA GH200 480GB", "Tesla V100S-PCIE-32GB", "NVIDIA A100X", "NVIDIA A100-SXM-64GB"})
    EXPECT_EQ(MemoryBandwidthOf(gpu), 0) << gpu;
  EXPECT_EQ(MemoryBandwidthOf("Tesla V100-SXM2-16GB"), 9.00e11);
  EXPECT_EQ(MemoryBandwidthOf("NVIDIA H200 NVL"), 4.8e12);
  EXPECT_EQ(MemoryBandwidthOf("A100-SXM-80GB"), 2.039e12);
}

TEST(MemoryBandwidthTest, EachRowIsFound) {
  for (const MemoryBandwidth& row : kMemoryBandwidths)
    EXPECT_EQ(MemoryBandwidthOf(row.name), row.bytes_per_s) << row.name;
}

}  // namespace
}  // namespace crossover::gains

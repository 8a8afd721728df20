#include "sidecar/hooks/kernel_table.h"

#include <gtest/gtest.h>

namespace crossover::hooks {
namespace {

const void* Handle(std::uintptr_t value) { return reinterpret_cast<const void*>(value); }

class KernelTableTest : public ::testing::Test {
 protected:
  std::uint16_t Known(const void* handle) const {
    std::uint16_t kernel = 0xffff;
    EXPECT_TRUE(table_.Find(handle, &kernel));
    return kernel;
  }
  bool Knows(const void* handle) const {
    std::uint16_t kernel = 0;
    return table_.Find(handle, &kernel);
  }

  KernelTable table_;
};

TEST_F(KernelTableTest, AHandleThatIsNotRememberedIsNotPlain) {
  EXPECT_FALSE(table_.IsPlain(Handle(0x7f0012345640)));
  EXPECT_FALSE(Knows(Handle(0x7f0012345640)));
}

TEST_F(KernelTableTest, OneLoadTellsAKernelThatIsNoneOfNccls) {
  table_.Remember(Handle(0x7f0012345640), 0);
  EXPECT_TRUE(table_.IsPlain(Handle(0x7f0012345640)));
  EXPECT_EQ(Known(Handle(0x7f0012345640)), 0);
}

TEST_F(KernelTableTest, AKernelOfNcclsIsNeverPlain) {
  table_.Remember(Handle(0x7f0012345640), 17);
  EXPECT_FALSE(table_.IsPlain(Handle(0x7f0012345640)));
  EXPECT_EQ(Known(Handle(0x7f0012345640)), 17);
}

TEST_F(KernelTableTest, TheLastAnswerForAHandleCounts) {
  table_.Remember(Handle(0x1000), 17);
  table_.Remember(Handle(0x1000), 0);
  EXPECT_TRUE(table_.IsPlain(Handle(0x1000)));
}

// A program with some hundred kernels finds nearly all of them by one load, whatever the distance between
// their handles.
TEST_F(KernelTableTest, FewKernelsTakeEachOthersPlace) {
  constexpr std::uintptr_t kKernels = 400, kFirst = 0x55555555c000;
  for (std::uintptr_t distance = 16; distance <= 4096; distance += 16) {
    table_.Forget(KernelTable::What::kAll);
    std::size_t plain = 0;
    for (std::uintptr_t i = 0; i < kKernels; ++i) table_.Remember(Handle(kFirst + distance * i), 0);
    for (std::uintptr_t i = 0; i < kKernels; ++i) {
      EXPECT_TRUE(Knows(Handle(kFirst + distance * i)));
      plain += table_.IsPlain(Handle(kFirst + distance * i));
    }
    EXPECT_GE(plain, kKernels * 17 / 20) << distance;
  }
}

TEST_F(KernelTableTest, WhatIsForgottenIsAskedForAgain) {
  table_.Remember(Handle(0x1000), 0);
  table_.Remember(Handle(0x2000), 17);
  table_.Forget(KernelTable::What::kPlain);
  EXPECT_FALSE(table_.IsPlain(Handle(0x1000)));
  EXPECT_EQ(Known(Handle(0x2000)), 17);
  table_.Forget(KernelTable::What::kAll);
  EXPECT_FALSE(Knows(Handle(0x2000)));
}

// The upper bits of such a handle would be read as a kernel's number.
TEST_F(KernelTableTest, AHandleWithHighBitsIsNotRemembered) {
  table_.Remember(Handle(0xdead000000001000), 0);
  EXPECT_FALSE(table_.IsPlain(Handle(0xdead000000001000)));
  EXPECT_FALSE(table_.IsPlain(Handle(0x1000)));
}

}  // namespace
}  // namespace crossover::hooks

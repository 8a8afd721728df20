#include "sidecar/hooks/nccl_sites.h"

#include <gtest/gtest.h>

namespace crossover::hooks {
namespace {

constexpr std::uintptr_t kFirst = 0x7f00'0000'1000;

const void* Site(std::uintptr_t address) { return reinterpret_cast<const void*>(address); }

// Returns the file that is known for the address, or -1 if there is none.
int FileOf(const NcclSites& sites, std::uintptr_t address) {
  std::size_t file = 0;
  return sites.Find(Site(address), &file) ? static_cast<int>(file) : -1;
}

TEST(NcclSitesTest, KnowsWhatItWasTold) {
  NcclSites sites;
  EXPECT_EQ(FileOf(sites, kFirst), -1);
  constexpr unsigned kSites = 300;
  const auto file = [](unsigned i) { return i % 3; };
  for (unsigned i = 0; i < kSites; ++i) sites.Remember(Site(kFirst + 5 * i), file(i));
  for (unsigned i = 0; i < kSites; ++i) EXPECT_EQ(FileOf(sites, kFirst + 5 * i), static_cast<int>(file(i)));
  EXPECT_EQ(FileOf(sites, kFirst + 1), -1);
  EXPECT_EQ(FileOf(sites, 0), -1);
}

TEST(NcclSitesTest, WhatFindsNoPlaceIsLookedUpAgain) {
  NcclSites sites;
  for (std::uintptr_t i = 1; i <= 20000; ++i) {
    sites.Remember(Site(16 * i), 1);
    ASSERT_EQ(FileOf(sites, 16 * i), 1) << "the newest is there";
  }
  for (std::uintptr_t i = 1; i <= 20000; ++i) ASSERT_NE(FileOf(sites, 16 * i), 0) << "none is another's";
}

TEST(NcclSitesTest, AnAddressThatFitsNoWordIsNotTakenForAnother) {
  NcclSites sites;
  sites.Remember(Site(0x0002'7f00'0000'1000), 1);
  EXPECT_EQ(FileOf(sites, 0x0002'7f00'0000'1000), -1);
  EXPECT_EQ(FileOf(sites, 0x7f00'0000'1000), -1);
}

}  // namespace
}  // namespace crossover::hooks

// Tests what is read of signallers' processes, with texts of the kernel's form and with this process itself.
#include "deviceplugin/signals/host_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace crossover::signals {
namespace {

constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000000";

std::string Stat(const std::string& name) {
  return "42 (" + name + ") S 1 42 42 0 -1 4194560 1500 0 2 0 250 50 7 8 20 0 3 0 98765 9000000 300 " +
         "18446744073709551615 1 1 0 0 0\n";
}

TEST(ParseStatTest, FindsTheFieldsBehindAnyName) {
  for (const char* name : {"crossover-signa", "a) S 1 (b", "", ") ) )", "\n(("}) {
    SCOPED_TRACE(name);
    const auto usage = ParseStat(Stat(name), 100, 4096);
    ASSERT_TRUE(usage);
    EXPECT_EQ(usage->started, 98765u);
    EXPECT_EQ(usage->resident_bytes, 300u * 4096);
    EXPECT_DOUBLE_EQ(usage->cpu_seconds, 3.0) << "user and system time, without that of children";
  }
}

TEST(ParseStatTest, OtherTextsAreNone) {
  const std::string whole = Stat("a");
  const std::string through_pages = whole.substr(0, whole.find(" 300") + 4);
  EXPECT_TRUE(ParseStat(through_pages, 100, 4096));
  EXPECT_FALSE(ParseStat(through_pages.substr(0, through_pages.size() - 4), 100, 4096)) << "cut off";
  EXPECT_FALSE(ParseStat("", 100, 4096));
  EXPECT_FALSE(ParseStat("42 (a", 100, 4096));
  EXPECT_FALSE(
      ParseStat("42 (a) S 1 42 42 0 -1 4194560 1500 0 2 0 x 50 7 8 20 0 3 0 98765 9 300 0", 100, 4096));
  EXPECT_FALSE(
      ParseStat("42 (a) S 1 42 42 0 -1 4194560 1500 0 2 0 250 50 7 8 20 0 3 0 98765 9 -3 0", 100, 4096));
}

TEST(ReadUsageTest, ReadsThisProcessAndNoneThatIsNotThere) {
  const auto usage = ReadUsage(getpid());
  ASSERT_TRUE(usage);
  EXPECT_GT(usage->started, 0u);
  EXPECT_GT(usage->resident_bytes, 100'000u);
  EXPECT_GE(usage->cpu_seconds, 0);
  EXPECT_FALSE(ReadUsage(0));
  EXPECT_FALSE(ReadUsage(-1));
}

class HostUsageTest : public ::testing::Test {
 protected:
  const Figures::Host& Fill(std::vector<std::int64_t> processes) {
    figures_ = {};
    figures_[kGpu].processes = std::move(processes);
    usage_.Fill(&figures_);
    return figures_[kGpu].host;
  }

  std::map<std::int64_t, ProcessUsage> kernel_;
  HostUsage usage_{[this](std::int64_t pid) {
    const auto found = kernel_.find(pid);
    return found == kernel_.end() ? std::nullopt : std::optional(found->second);
  }};
  ByGpu figures_;
};

TEST_F(HostUsageTest, AddsUpTheProcessesOfAGpu) {
  kernel_ = {{7, {1, 1000, 2.0}}, {8, {1, 500, 0.5}}, {9, {1, 77, 77}}};
  const Figures::Host& host = Fill({7, 8});
  EXPECT_EQ(host.resident_bytes, 1500u);
  EXPECT_EQ(host.cpu_seconds, 2.5);
}

TEST_F(HostUsageTest, WhatTheKernelDoesNotTellIsUnset) {
  const Figures::Host& host = Fill({7});
  EXPECT_FALSE(host.resident_bytes);
  EXPECT_FALSE(host.cpu_seconds);
  EXPECT_FALSE(Fill({}).cpu_seconds);
}

TEST_F(HostUsageTest, TheTimeOfProcessesThatHaveEndedStays) {
  kernel_ = {{7, {1, 1000, 2.0}}, {8, {1, 500, 0.5}}};
  Fill({7, 8});
  kernel_.erase(7);
  EXPECT_EQ(Fill({7, 8}).cpu_seconds, 2.5) << "the arbiter does not know yet that it has ended";
  EXPECT_EQ(Fill({8}).cpu_seconds, 2.5);
  EXPECT_EQ(Fill({8}).resident_bytes, 500u);
  EXPECT_EQ(Fill({}).cpu_seconds, 2.5);
  EXPECT_FALSE(Fill({}).resident_bytes);
}

TEST_F(HostUsageTest, AProcessThatHasGotTheIdOfOneThatHasEndedIsAnother) {
  kernel_ = {{7, {1, 1000, 2.0}}};
  Fill({7});
  kernel_ = {{7, {2, 300, 0.25}}};
  const Figures::Host& host = Fill({7});
  EXPECT_EQ(host.cpu_seconds, 2.25);
  EXPECT_EQ(host.resident_bytes, 300u);
}

TEST_F(HostUsageTest, AGpuThatIsNotNamedIsForgotten) {
  kernel_ = {{7, {1, 1000, 2.0}}};
  Fill({7});
  ByGpu none;
  usage_.Fill(&none);
  EXPECT_FALSE(Fill({}).cpu_seconds);
}

}  // namespace
}  // namespace crossover::signals

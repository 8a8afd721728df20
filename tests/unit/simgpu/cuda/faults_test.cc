#include "simgpu/cuda/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simgpu {
namespace {

TEST(FaultsTest, ReadsAList) {
  FaultSet faults;
  std::string error;
  ASSERT_TRUE(
      ParseFaults("memops_unsupported,delayed_writes_us:250,stuck_stream:7,queues:1,drop_wait:3,drop_waits:4,"
                  "memops_fail:9,"
                  "cancellation_points,memops_break:60,copies_break:12,early_waits_us:40,exit_at_launch:5,"
                  "crash_after_exit:900,import_fails:2,no_memory",
                  &faults, &error));
  EXPECT_TRUE(faults.memops_unsupported);
  EXPECT_FALSE(faults.host_register_fails);
  EXPECT_EQ(faults.delayed_writes_us, 250);
  EXPECT_EQ(faults.stuck_after, 7);
  EXPECT_EQ(faults.queues, 1);
  EXPECT_EQ(faults.dropped_wait, 3);
  EXPECT_EQ(faults.first_dropped_wait, 4);
  EXPECT_TRUE(faults.cancellation_points);
  EXPECT_EQ(faults.memops_fail_after, 9);
  EXPECT_EQ(faults.broken_memop, 60);
  EXPECT_EQ(faults.broken_copy, 12);
  EXPECT_EQ(faults.early_waits_us, 40);
  EXPECT_EQ(faults.exit_at_launch, 5);
  EXPECT_EQ(faults.unload_us, 900);
  EXPECT_EQ(faults.import_fails_after, 2);
  EXPECT_TRUE(faults.no_memory);
}

TEST(FaultsTest, ByDefaultNothingIsUnkind) {
  FaultSet faults;
  std::string error;
  ASSERT_TRUE(ParseFaults("", &faults, &error));
  EXPECT_EQ(faults.early_waits_us, 0);
  EXPECT_EQ(faults.exit_at_launch, -1);
  EXPECT_EQ(faults.unload_us, -1);
  EXPECT_EQ(faults.import_fails_after, -1);
  EXPECT_FALSE(faults.no_memory);
  ASSERT_TRUE(ParseFaults("crash_after_exit,import_fails", &faults, &error));
  EXPECT_EQ(faults.unload_us, 0);
  EXPECT_EQ(faults.import_fails_after, 0) << "all imports fail";
}

TEST(FaultsTest, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"slow", "copies_break", "delayed_writes_us", "delayed_writes_us:x", "queues:0",
                           "queues:-1", "queues:33", "memops_unsupported:1", "launch_fails:",
                           "early_waits_us", "exit_at_launch", "crash_after_exit:", "crash_after_exit:soon",
                           "early_waits_us:-1", "import_fails:", "import_fails:-1", "no_memory:1"}) {
    FaultSet faults;
    std::string error;
    EXPECT_FALSE(ParseFaults(text, &faults, &error)) << text;
    EXPECT_THAT(error, testing::AllOf(testing::StartsWith("SIMGPU_FAULT: expected memops_unsupported, "),
                                      testing::EndsWith(std::string(", got ") + text)))
        << text;
  }
}

}  // namespace
}  // namespace simgpu

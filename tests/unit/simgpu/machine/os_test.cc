#include "simgpu/machine/os.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>
#include <utility>

namespace simgpu {
namespace {

// Returns the policy and the nice value of a new thread that stands in for hardware.
std::pair<int, int> PriorityOfHardware() {
  std::pair<int, int> priority;
  std::thread([&priority] {
    ActAsHardware();
    priority = {sched_getscheduler(0), getpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)))};
  }).join();
  return priority;
}

// A program may change its environment in one thread while a thread of ours begins in another. The C library
// does not protect readers.
TEST(HardwareThreadTest, DoesNotReadTheEnvironment) {
  const std::pair<int, int> before = PriorityOfHardware();
  const std::pair<int, int> ordinary{sched_getscheduler(0), getpriority(PRIO_PROCESS, 0)};
  if (before == ordinary) GTEST_SKIP() << "this process may not raise priorities, or SIMGPU_REALTIME is 0";
  ASSERT_EQ(setenv("SIMGPU_REALTIME", "0", 1), 0);
  EXPECT_EQ(PriorityOfHardware(), before);
  ASSERT_EQ(unsetenv("SIMGPU_REALTIME"), 0);
}

}  // namespace
}  // namespace simgpu

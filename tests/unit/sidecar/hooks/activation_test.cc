// Tests what is found out when turns begin, over the software GPU's driver. Each case is a process of its
// own, as it is in use.
#include "sidecar/hooks/activation.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

namespace crossover::hooks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Runs `prepare` in a process that then makes a communicator of two ranks. Returns what it logs.
std::string LogOf(const std::function<void()>& prepare) {
  ::testing::internal::CaptureStderr();
  const pid_t child = fork();
  if (child == 0) {
    setenv("CROSSOVER_GANG", "a", 1);
    setenv("CROSSOVER_SOCKET", "/nonexistent/arbiter.sock", 1);
    setenv("SIMGPU_MACHINE", "1x1", 1);
    CUcontext context = nullptr;
    const bool ready = cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
                       cuCtxSetCurrent(context) == CUDA_SUCCESS && Active();
    prepare();
    if (ready) OnCommunicator(&context, 2, 0);
    _exit(ready ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  return ::testing::internal::GetCapturedStderr();
}

TEST(ActivationTest, NothingHindersATurnInAnOrdinaryProcess) {
  EXPECT_THAT(LogOf([] {}), Not(HasSubstr("takes no turns: ")));
}

// Python programs set these after the library has read its configuration.
TEST(ActivationTest, WhatTheProgramSetsForTheDriverLaterIsSeen) {
  EXPECT_THAT(LogOf([] { setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1); }),
              HasSubstr("takes no turns: CUDA_DEVICE_MAX_CONNECTIONS is 1"));
  EXPECT_THAT(LogOf([] { setenv("CUDA_LAUNCH_BLOCKING", "1", 1); }),
              HasSubstr("takes no turns: CUDA_LAUNCH_BLOCKING is set"));
}

}  // namespace
}  // namespace crossover::hooks

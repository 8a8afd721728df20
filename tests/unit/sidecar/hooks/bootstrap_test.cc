// Tests what is found out when turns begin, over the software GPU's driver. Each case is a process of its
// own, as it is in use.
#include "sidecar/hooks/bootstrap.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "proto/turnstile.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"
#include "turn/ops.h"

namespace crossover::hooks {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Makes this process one that takes turns, with a communicator of two ranks. Calls `prepare` before that.
bool BecomeRank(const std::function<void()>& prepare = [] {}) {
  setenv("CROSSOVER_GANG", "a", 1);
  setenv("CROSSOVER_SOCKET", "/nonexistent/arbiter.sock", 1);
  setenv("SIMGPU_MACHINE", "1x1", 1);
  CUcontext context = nullptr;
  const bool ready = cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS &&
                     cuCtxSetCurrent(context) == CUDA_SUCCESS && Active();
  prepare();
  if (ready) OnCommunicator(&context, 2, 0);
  return ready;
}

// Runs `prepare` in a process that then makes a communicator of two ranks. Returns what it logs.
std::string LogOf(const std::function<void()>& prepare) {
  ::testing::internal::CaptureStderr();
  const pid_t child = fork();
  if (child == 0) _exit(BecomeRank(prepare) ? 0 : 1);
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

// Begins a turn of the process as its hooks do, on a page that no arbiter knows.
void BeginTurn(crossover_page* page) {
  session::Session& session = session::TheSession();
  page->magic = CROSSOVER_TURNSTILE_MAGIC;
  page->slot[0].mode = CROSSOVER_MODE_OBSERVE;
  static const char comm = 0;
  CUstream streams[2] = {};
  for (CUstream& stream : streams) {
    if (cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) _exit(2);
  }
  const auto compute = session::KeyOf(streams[0], session::Flavour::kLegacy);
  const auto side = session::KeyOf(streams[1], session::Flavour::kLegacy);
  session.OnCommunicator(&comm, 2);
  if (!session.Attach(page, 0)) _exit(3);
  page->slot[0].gate = turn::OpenAny(0);
  for (int i = 0; i < 8; ++i) {
    session.BeforeLaunch(compute);
    session.BeforeCollective(&comm, {0, 0, 10, 7, 0, 0}, side);
    session.OnRecord(1, side);
    session.OnStreamWait(compute, 1);
    session.BeforeLaunch(compute);
    if (i == 5) page->slot[0].mode = CROSSOVER_MODE_GATE;
    if (i == 6) return;
  }
}

// Ends the process by exit(). Handlers that are older than EndsHere() do not run: LeakSanitizer has one, and
// takes for leaks what only threads of the parent refer to.
int end_status = 0;
void EndsHere() {
  if (std::atexit([] { _exit(end_status); }) != 0) _exit(7);
}
[[noreturn]] void End(int status) {
  end_status = status;
  std::exit(status);
}

// The first process of a container has number 1, and so has that of a namespace which it makes.
TEST(ActivationTest, AChildWithOurNumberDoesNotGiveOurTurnBack) {
  auto* const page = static_cast<crossover_page*>(
      mmap(nullptr, sizeof(crossover_page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(page, MAP_FAILED);
  const auto as_first = [](const std::function<void()>& run) {
    const pid_t child = fork();
    if (child == 0) run();
    int status = -1;
    waitpid(child, &status, 0);
    return status;
  };
  const pid_t outer = fork();
  if (outer == 0) {
    if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(77);
    _exit(WEXITSTATUS(as_first([&] {
      EndsHere();
      if (getpid() != 1 || !BecomeRank()) _exit(4);
      BeginTurn(page);
      if (session::TheSession().Asked() == 0) _exit(5);
      page->slot[0].hold = session::TheSession().Asked();
      if (unshare(CLONE_NEWPID) != 0) _exit(77);
      as_first([] { End(getpid() == 1 ? 0 : 1); });
      const bool kept = page->slot[0].rel == 0;
      End(kept && page->slot[0].rel == 0 ? 0 : 6);
    })));
  }
  int status = -1;
  ASSERT_EQ(waitpid(outer, &status, 0), outer);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no namespaces can be made here";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "6: the child gave our turn back";
  EXPECT_EQ(page->slot[0].rel, page->slot[0].hold) << "we did, at our own end";
}

}  // namespace
}  // namespace crossover::hooks

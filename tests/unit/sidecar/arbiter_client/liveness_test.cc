#include "sidecar/arbiter_client/liveness.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "tests/unit/sidecar/arbiter_client/fake_arbiter.h"

namespace crossover::arbiter_client {
namespace {

// This test comes first: it forks, and no thread of another test is there yet.
TEST(LivenessTest, DeathIsMarkedInTheWordAndWakesWhoWaits) {
  test::Turnstile turnstile;
  std::uint32_t* word = &turnstile.page().slot[0].alive;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    static Liveness liveness;
    if (!liveness.Start(word)) ::_exit(1);
    base::FutexWakeAll(word);
    while (true) ::pause();
  }
  while (base::LoadWord(word) == 0) base::FutexWait(word, 0, 10 * base::kNsPerMs);
  const std::uint32_t holder = base::LoadWord(word);
  __atomic_fetch_or(word, FUTEX_WAITERS, __ATOMIC_SEQ_CST);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  while ((base::LoadWord(word) & FUTEX_OWNER_DIED) == 0) {
    base::FutexWait(word, holder | FUTEX_WAITERS, 60 * base::kNsPerSecond);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
}

TEST(LivenessTest, HoldsTheWordUntilStopped) {
  std::uint32_t word = 0;
  Liveness liveness;
  ASSERT_TRUE(liveness.Start(&word));
  EXPECT_NE(base::LoadWord(&word) & FUTEX_TID_MASK, 0u);
  liveness.Stop();
  EXPECT_EQ(base::LoadWord(&word), 0u);
  ASSERT_TRUE(liveness.Start(&word)) << "again";
  liveness.Stop();
}

}  // namespace
}  // namespace crossover::arbiter_client

#include "deviceplugin/arbiter/peer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deviceplugin/arbiter/log_deduper.h"

namespace crossover::arbiter {
namespace {

TEST(PeerTest, TheProcessAtTheOtherEnd) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
  const auto peer = IdentifyPeer(ends[0]);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->pid, getpid());
  EXPECT_EQ(peer->uid, getuid());
  close(ends[0]);
  close(ends[1]);
}

TEST(PeerTest, ByItsNumberAProcessIsKnownOnceItIsOldEnough) {
  EXPECT_TRUE(OpenByNumber(1)) << "the first of all";
  const pid_t young = fork();
  if (young == 0) {
    pause();
    _exit(0);
  }
  EXPECT_FALSE(OpenByNumber(young));
  kill(young, SIGKILL);
  waitpid(young, nullptr, 0);
  EXPECT_FALSE(OpenByNumber(young)) << "it is gone";
}

TEST(SaidTest, TheSameIsNewsOnce) {
  LogDeduper said;
  const turn::Time now = LogDeduper::kAgain;
  EXPECT_TRUE(said.IsNews(7, "no slot", now));
  EXPECT_FALSE(said.IsNews(7, "no slot", now + 1));
  EXPECT_TRUE(said.IsNews(8, "no slot", now + 1));
  EXPECT_TRUE(said.IsNews(7, "another reason", now + 2));
  EXPECT_TRUE(said.IsNews(7, "another reason", now + 2 + LogDeduper::kAgain)) << "lest it be forgotten";
}

TEST(SaidTest, ItStaysSmallWhateverComes) {
  LogDeduper said;
  for (std::int64_t whom = 0; whom < 3 * std::int64_t{LogDeduper::kMost}; ++whom) said.IsNews(whom, "x", 1);
  EXPECT_TRUE(said.IsNews(0, "x", 2)) << "forgotten";
}

}  // namespace
}  // namespace crossover::arbiter

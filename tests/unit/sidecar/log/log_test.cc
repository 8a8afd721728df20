#include "sidecar/log/log.h"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "common/base/fd.h"

namespace crossover::log {
namespace {

using ::testing::StartsWith;

// Returns what is written to `near` in place of standard error, as read from `far`.
std::string WrittenTo(int near, int far) {
  const base::UniqueFd before(::dup(STDERR_FILENO));
  EXPECT_EQ(::dup2(near, STDERR_FILENO), STDERR_FILENO);
  Write(Level::kError, "a line");
  EXPECT_EQ(::dup2(before.get(), STDERR_FILENO), STDERR_FILENO);
  EXPECT_EQ(::write(near, "end", 3), 3);
  char text[100] = {};
  EXPECT_GT(::read(far, text, sizeof text - 1), 0);
  return text;
}

// Daemons close their standard streams, and the next connection of theirs gets the number.
TEST(LogTest, WritesNothingToASocketThatHasTakenTheNumber) {
  Begin();
  int pipes[2];
  int sockets[2];
  ASSERT_EQ(::pipe(pipes), 0);
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
  EXPECT_EQ(WrittenTo(sockets[0], sockets[1]), "end");
  EXPECT_THAT(WrittenTo(pipes[1], pipes[0]), StartsWith("crossover: a line\n")) << "a log that was rotated";
  for (int fd : {pipes[0], pipes[1], sockets[0], sockets[1]}) ::close(fd);
}

}  // namespace
}  // namespace crossover::log

#include "sidecar/arbiter_client/own_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace crossover::arbiter_client {
namespace {

int Open() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }
bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

class OwnFdTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::pipe2(pipe_, O_CLOEXEC), 0); }
  void TearDown() override {
    for (const int end : pipe_) ::close(end);
  }
  // Makes the program take `number` for another file.
  void Take(int number) { ASSERT_EQ(::dup2(pipe_[0], number), number); }

  int pipe_[2] = {-1, -1};
};

TEST_F(OwnFdTest, ClosesWhatItOwns) {
  const int number = Open();
  OwnFd own(number);
  EXPECT_EQ(own.get(), number);
  own.Reset();
  EXPECT_FALSE(IsOpen(number));
  EXPECT_EQ(own.get(), -1);
}

TEST_F(OwnFdTest, LeavesANumberAloneThatTheProgramHasTaken) {
  const int number = Open();
  OwnFd own(number);
  Take(number);
  EXPECT_EQ(own.get(), -1);
  own.Reset();
  EXPECT_TRUE(IsOpen(number));
  ::close(number);
}

TEST_F(OwnFdTest, AMovedOneOwnsNothing) {
  const int number = Open();
  OwnFd own(number);
  OwnFd other(std::move(own));
  EXPECT_EQ(other.get(), number);
  own = std::move(other);
  EXPECT_EQ(own.get(), number);
}

TEST_F(OwnFdTest, AChildClosesWhatItsParentShows) {
  const int number = Open();
  const OwnFd own(number);
  SharedFd shared;
  shared.Show(own);
  shared.CloseInChild();
  EXPECT_FALSE(IsOpen(number));
}

TEST_F(OwnFdTest, AChildLeavesANumberAloneThatTheProgramHasTaken) {
  const int number = Open();
  const OwnFd own(number);
  SharedFd shared;
  shared.Show(own);
  Take(number);
  shared.CloseInChild();
  EXPECT_TRUE(IsOpen(number));
  ::close(number);
}

}  // namespace
}  // namespace crossover::arbiter_client

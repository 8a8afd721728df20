#include "common/base/mps_pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "common/base/fd.h"

namespace crossover::base {
namespace {

class MpsPipeTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  int Try() const { return TryMpsPipe(folder_.c_str()); }

  // Returns a socket that is bound to the control daemon's path.
  UniqueFd Bind(int type) const {
    UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  const std::string folder_ = "/tmp/mps_pipe_test-" + std::to_string(getpid());
  const std::string path_ = folder_ + "/control";
};

TEST_F(MpsPipeTest, ThereIsNoneWhereNothingListens) {
  EXPECT_EQ(Try(), ENOENT);
  std::ofstream(path_) << "a file";
  EXPECT_EQ(Try(), ECONNREFUSED);
}

TEST_F(MpsPipeTest, ASocketThatWasLeftBehindIsNone) {
  UniqueFd daemon = Bind(SOCK_SEQPACKET);
  ASSERT_EQ(listen(daemon.get(), 1), 0);
  EXPECT_EQ(Try(), 0);
  daemon.Reset();
  ASSERT_TRUE(std::filesystem::exists(path_));
  EXPECT_EQ(Try(), ECONNREFUSED);
}

TEST(MpsPipeErrorTest, OnlyAMissingOneIsNone) {
  for (const int error : {ENOENT, ENOTDIR, ECONNREFUSED}) EXPECT_TRUE(IsNoMps(error)) << error;
  for (const int error : {0, EMFILE, ENFILE, EACCES, EPERM, ENAMETOOLONG, ENOMEM})
    EXPECT_FALSE(IsNoMps(error)) << error;
  EXPECT_TRUE(IsOwnLack(EMFILE));
  EXPECT_FALSE(IsOwnLack(EACCES));
}

TEST_F(MpsPipeTest, OneThatIsBusyIsThere) {
  const UniqueFd daemon = Bind(SOCK_SEQPACKET);
  ASSERT_EQ(listen(daemon.get(), 0), 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Try(), 0) << "it accepts none, so its queue is full";
}

TEST_F(MpsPipeTest, OneOfAnotherTypeIsThere) {
  const UniqueFd daemon = Bind(SOCK_STREAM);
  ASSERT_EQ(listen(daemon.get(), 1), 0);
  EXPECT_EQ(Try(), 0);
}

TEST_F(MpsPipeTest, TheSocketNamesWhoListens) {
  EXPECT_EQ(OwnerOfMpsPipe(folder_.c_str()), 0);
  UniqueFd daemon = Bind(SOCK_SEQPACKET);
  ASSERT_EQ(listen(daemon.get(), 1), 0);
  EXPECT_EQ(OwnerOfMpsPipe(folder_.c_str()), getpid());
  daemon.Reset();
  EXPECT_EQ(OwnerOfMpsPipe(folder_.c_str()), 0);
}

TEST_F(MpsPipeTest, APathThatIsTooLongIsNone) {
  EXPECT_EQ(TryMpsPipe(std::string(200, 'x').c_str()), ENAMETOOLONG);
  EXPECT_EQ(OwnerOfMpsPipe(std::string(200, 'x').c_str()), 0);
}

}  // namespace
}  // namespace crossover::base

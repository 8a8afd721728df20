#include "sidecar/hooks/mps.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "common/base/fd.h"

namespace crossover::hooks {
namespace {

// Drivers before CUDA 12.4 do not know the attribute.
CUresult KnowsNothing(int*, CUdevice_attribute, CUdevice) { return CUDA_ERROR_INVALID_VALUE; }
CUresult SaysYes(int* value, CUdevice_attribute attribute, CUdevice) {
  *value = attribute == CU_DEVICE_ATTRIBUTE_MPS_ENABLED ? 1 : 0;
  return CUDA_SUCCESS;
}
CUresult SaysNo(int* value, CUdevice_attribute, CUdevice) {
  *value = 0;
  return CUDA_SUCCESS;
}

class MpsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_);
    setenv("CUDA_MPS_PIPE_DIRECTORY", folder_.c_str(), 1);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder_ + "/control";
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(daemon_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(daemon_.get(), 8), 0);
  }
  void TearDown() override {
    unsetenv("CUDA_MPS_PIPE_DIRECTORY");
    std::filesystem::remove_all(folder_);
  }

  const std::string folder_ = "/tmp/mps_test-" + std::to_string(getpid());
  base::UniqueFd daemon_{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  gates::Driver driver_;
};

TEST_F(MpsTest, ADriverThatKnowsIsBelieved) {
  driver_.DeviceGetAttribute = &SaysYes;
  EXPECT_TRUE(RunsProcessesTogether(driver_, 0));
  driver_.DeviceGetAttribute = &SaysNo;
  EXPECT_FALSE(RunsProcessesTogether(driver_, 0));
}

TEST_F(MpsTest, ForOneThatDoesNotKnowAListeningControlDaemonTells) {
  EXPECT_TRUE(RunsProcessesTogether(driver_, 0)) << "it lacks the function";
  driver_.DeviceGetAttribute = &KnowsNothing;
  EXPECT_TRUE(RunsProcessesTogether(driver_, 0));
  daemon_.Reset();
  ASSERT_TRUE(std::filesystem::exists(folder_ + "/control")) << "the file stays behind";
  EXPECT_FALSE(RunsProcessesTogether(driver_, 0));
}

TEST_F(MpsTest, AProcessThatMayOpenNoMoreFilesHasNotLostMps) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool there = RunsProcessesTogether(driver_, 0);
  std::filesystem::remove(folder_ + "/control");
  const bool gone = !RunsProcessesTogether(driver_, 0);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(there);
  EXPECT_TRUE(gone) << "no socket, no MPS";
}

}  // namespace
}  // namespace crossover::hooks

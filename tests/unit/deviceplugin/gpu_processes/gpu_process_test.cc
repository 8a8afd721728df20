#include "deviceplugin/gpu_processes/gpu_process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace crossover::deviceplugin {
namespace {

// The driver answers for the first GPU, whose processes are not on this machine, and not for the second.
class FindGpuProcessesTest : public ::testing::Test {
 protected:
  FindGpuProcessesTest() : nvml_(NvmlLibrary::Load(FAKE_NVML, &error_)) {}
  void SetUp() override { ASSERT_NE(nvml_, nullptr) << error_; }

  auto Look(const std::vector<std::string>& gpus, const std::vector<GpuProcess>& before = {}) const {
    return FindGpuProcesses(*nvml_, gpus, "", before);
  }

  std::string error_;
  const std::unique_ptr<NvmlLibrary> nvml_;
};

TEST_F(FindGpuProcessesTest, AGpuThatDoesNotAnswerHidesNoOther) {
  EXPECT_TRUE(Look({"GPU-0", "GPU-1"}).has_value());
  EXPECT_FALSE(Look({"GPU-1"}).has_value()) << "nor is a driver that answers for none believed";
  EXPECT_TRUE(Look({}).has_value());
}

TEST_F(FindGpuProcessesTest, WhoWasOnAGpuThatDoesNotAnswerIsThereAsLongAsItRuns) {
  constexpr pid_t kEnded = 0x7fffffff;
  const std::vector<GpuProcess> before = {
      {.gpu_uuid = "GPU-0", .pid = getpid(), .program = "", .pod_uid = {}},
      {.gpu_uuid = "GPU-1", .pid = getpid(), .program = "", .pod_uid = {}},
      {.gpu_uuid = "GPU-1", .pid = kEnded, .program = "", .pod_uid = {}}};
  const auto found = Look({"GPU-0", "GPU-1"}, before);
  ASSERT_TRUE(found);
  const auto mine = std::count_if(found->begin(), found->end(),
                                  [](const GpuProcess& gpu_process) { return gpu_process.pid == getpid(); });
  EXPECT_EQ(mine, 1) << "what answers is believed";
  for (const GpuProcess& gpu_process : *found) {
    EXPECT_NE(gpu_process.pid, kEnded);
    if (gpu_process.pid == getpid()) {
      EXPECT_EQ(gpu_process.gpu_uuid, "GPU-1");
    }
  }
}

}  // namespace
}  // namespace crossover::deviceplugin

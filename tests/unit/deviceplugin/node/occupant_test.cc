#include "deviceplugin/occupants/occupant.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

namespace crossover::deviceplugin {
namespace {

// The driver answers for the first GPU, whose processes are not on this machine, and not for the second.
class LookForOccupantsTest : public ::testing::Test {
 protected:
  LookForOccupantsTest() : nvml_(NvmlLibrary::Load(FAKE_NVML, &error_)) {}
  void SetUp() override { ASSERT_NE(nvml_, nullptr) << error_; }

  auto Look(const std::vector<std::string>& gpus, const std::vector<Occupant>& before = {}) const {
    return LookForOccupants(*nvml_, gpus, "", before);
  }

  std::string error_;
  const std::unique_ptr<NvmlLibrary> nvml_;
};

TEST_F(LookForOccupantsTest, AGpuThatDoesNotAnswerHidesNoOther) {
  EXPECT_TRUE(Look({"GPU-0", "GPU-1"}).has_value());
  EXPECT_FALSE(Look({"GPU-1"}).has_value()) << "nor is a driver that answers for none believed";
  EXPECT_TRUE(Look({}).has_value());
}

TEST_F(LookForOccupantsTest, WhoWasOnAGpuThatDoesNotAnswerIsThereAsLongAsItRuns) {
  constexpr pid_t kEnded = 0x7fffffff;
  const std::vector<Occupant> before = {{.gpu_uuid = "GPU-0", .pid = getpid(), .program = "", .pod_uid = {}},
                                        {.gpu_uuid = "GPU-1", .pid = getpid(), .program = "", .pod_uid = {}},
                                        {.gpu_uuid = "GPU-1", .pid = kEnded, .program = "", .pod_uid = {}}};
  const auto found = Look({"GPU-0", "GPU-1"}, before);
  ASSERT_TRUE(found);
  const auto mine = std::count_if(found->begin(), found->end(),
                                  [](const Occupant& occupant) { return occupant.pid == getpid(); });
  EXPECT_EQ(mine, 1) << "what answers is believed";
  for (const Occupant& occupant : *found) {
    EXPECT_NE(occupant.pid, kEnded);
    if (occupant.pid == getpid()) {
      EXPECT_EQ(occupant.gpu_uuid, "GPU-1");
    }
  }
}

}  // namespace
}  // namespace crossover::deviceplugin

#include "simgpu/cuda/visible.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace simgpu {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

bool All(int /*gpu*/) { return true; }
bool TheSecondAndThird(int gpu) { return gpu == 1 || gpu == 2; }

const std::vector<GpuConfig>& Gpus() {
  static const auto* gpus = new std::vector<GpuConfig>(DefaultNode(0, 4).gpus);
  return *gpus;
}

TEST(VisibleGpusTest, AreAllUnlessTheEnvironmentChooses) {
  EXPECT_THAT(VisibleGpus(Gpus(), All, nullptr), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(VisibleGpus(Gpus(), All, "2,0"), ElementsAre(2, 0));
  EXPECT_THAT(VisibleGpus(Gpus(), All, Gpus()[3].uuid.c_str()), ElementsAre(3));
  EXPECT_THAT(VisibleGpus(Gpus(), All, ""), IsEmpty());
}

TEST(VisibleGpusTest, EndAtTheFirstThatIsNone) {
  EXPECT_THAT(VisibleGpus(Gpus(), All, "1,4,0"), ElementsAre(1));
  EXPECT_THAT(VisibleGpus(Gpus(), All, "1,1,0"), ElementsAre(1));
}

TEST(VisibleGpusTest, AreThoseWhoseFileMayBeOpened) {
  EXPECT_THAT(VisibleGpus(Gpus(), TheSecondAndThird, nullptr), ElementsAre(1, 2));
  EXPECT_THAT(VisibleGpus(Gpus(), TheSecondAndThird, "1"), ElementsAre(2)) << "counted among those";
  EXPECT_THAT(VisibleGpus(Gpus(), TheSecondAndThird, Gpus()[0].uuid.c_str()), IsEmpty());
  EXPECT_THAT(VisibleGpus(
                  Gpus(), [](int) { return false; }, nullptr),
              IsEmpty());
}

}  // namespace
}  // namespace simgpu

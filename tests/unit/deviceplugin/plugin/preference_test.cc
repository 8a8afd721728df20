#include "deviceplugin/plugin/preference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string Gpu(int number) { return "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(number); }
DeviceId Id(int gpu, std::uint32_t slot) { return {Gpu(gpu), slot}; }

TEST(PreferTest, TakesTheAssignedGpus) {
  const Choice choice{.available = {Id(0, 0), Id(0, 1), Id(1, 1), Id(2, 0)},
                      .must_include = {},
                      .count = 2,
                      .assigned = {Gpu(2), Gpu(1)}};
  EXPECT_THAT(Prefer(choice), ElementsAre(Id(2, 0), Id(1, 1)));
}

TEST(PreferTest, WithoutAssignmentTheEmptiestGpusComeFirst) {
  const Choice choice{.available = {Id(0, 1), Id(1, 1), Id(1, 0), Id(2, 0), Id(2, 1)},
                      .must_include = {},
                      .count = 2,
                      .assigned = {}};
  EXPECT_THAT(Prefer(choice), ElementsAre(Id(1, 0), Id(2, 0)));
}

TEST(PreferTest, AnAssignedGpuThatIsFullIsReplaced) {
  const Choice choice{
      .available = {Id(0, 1), Id(2, 0)}, .must_include = {}, .count = 2, .assigned = {Gpu(1), Gpu(2)}};
  EXPECT_THAT(Prefer(choice), ElementsAre(Id(2, 0), Id(0, 1)));
}

TEST(PreferTest, WhatMustBeIncludedComesFirst) {
  Choice choice{.available = {Id(0, 0), Id(0, 1), Id(1, 0)},
                .must_include = {Id(0, 1)},
                .count = 2,
                .assigned = {Gpu(0), Gpu(1)}};
  EXPECT_THAT(Prefer(choice), ElementsAre(Id(0, 1), Id(1, 0)));
  choice.must_include = {Id(0, 0), Id(0, 1)};
  EXPECT_THAT(Prefer(choice), IsEmpty()) << "two slots of one GPU: the kubelet may do as it likes";
}

TEST(PreferTest, NeverTwoSlotsOfOneGpu) {
  const Choice choice{
      .available = {Id(0, 0), Id(0, 1), Id(0, 2)}, .must_include = {}, .count = 2, .assigned = {}};
  EXPECT_THAT(Prefer(choice), IsEmpty());
}

TEST(PreferTest, AnyAnswerIsAsLongAsAskedForOfDistinctGpusAndOfWhatIsAvailable) {
  std::mt19937 random(1);
  const auto draw = [&random](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  int answered = 0;
  for (int round = 0; round < 2000; ++round) {
    Choice choice;
    std::set<std::string> gpus;
    for (int gpu = 0; gpu < 8; ++gpu) {
      for (std::uint32_t slot = 0; slot < 3; ++slot) {
        if (draw(3) == 0) continue;
        choice.available.push_back(Id(gpu, slot));
        gpus.insert(Gpu(gpu));
      }
      if (draw(4) == 0) choice.assigned.push_back(Gpu(gpu));
    }
    std::shuffle(choice.available.begin(), choice.available.end(), random);
    choice.count = static_cast<std::size_t>(1 + draw(8));
    if (!choice.available.empty() && draw(2) == 0) choice.must_include = {choice.available.front()};
    const std::vector<DeviceId> answer = Prefer(choice);
    if (answer.empty()) {
      EXPECT_LT(gpus.size(), choice.count);
      continue;
    }
    ++answered;
    ASSERT_EQ(answer.size(), choice.count);
    std::set<std::string> used;
    for (const DeviceId& id : answer) {
      EXPECT_TRUE(used.insert(id.gpu).second);
      EXPECT_NE(std::find(choice.available.begin(), choice.available.end(), id), choice.available.end());
    }
    for (const DeviceId& id : choice.must_include) EXPECT_THAT(answer, testing::Contains(id));
  }
  EXPECT_GT(answered, 1000);
}

}  // namespace
}  // namespace crossover::deviceplugin

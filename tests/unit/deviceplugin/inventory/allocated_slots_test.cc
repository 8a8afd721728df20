#include "deviceplugin/inventory/allocated_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "deviceplugin/plugin/device_list.h"

namespace crossover::deviceplugin {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr char kUuid[] = "GPU-6ef1bb6c-6ef1-6ef1-6ef1-6ef1bb6c0000";

TEST(AllocatedSlotsTest, OfPodsThatLive) {
  Pod pod;
  pod.uid = std::string("u");  // assigned as it is, g++ 12 sees an overlap where there is none
  const std::string id = kUuid;
  const std::vector<DeviceAllocation> handed_out = {{"u", "a", {id + "::0", id + "::2"}, ""},
                                                    {"u", "b", {id + "::2"}, ""},
                                                    {"gone", "a", {id + "::1"}, ""}};
  EXPECT_THAT(FindAllocatedSlots({pod}, handed_out), ElementsAre(Pair(kUuid, ElementsAre(0u, 2u))))
      << "one container after the other may have the same";
  pod.over = true;
  EXPECT_THAT(FindAllocatedSlots({pod}, handed_out), IsEmpty());
}

std::set<std::uint32_t> Numbers(std::uint32_t slots, std::set<std::uint32_t> held) {
  return NumbersOf({.gpu = {}, .slots = slots, .healthy = true, .held = std::move(held)});
}

TEST(NumbersOfTest, ThoseThatAreHeldComeFirstAndThenTheLowest) {
  EXPECT_THAT(Numbers(3, {}), ElementsAre(0u, 1u, 2u));
  EXPECT_THAT(Numbers(2, {5}), ElementsAre(0u, 5u));
  EXPECT_THAT(Numbers(2, {1, 5}), ElementsAre(1u, 5u)) << "a free one would be a third";
  EXPECT_THAT(Numbers(1, {1, 5}), ElementsAre(1u, 5u));
  EXPECT_THAT(Numbers(0, {}), IsEmpty());
}

}  // namespace
}  // namespace crossover::deviceplugin

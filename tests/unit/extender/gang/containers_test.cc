#include "extender/gang/containers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::extender {
namespace {

using ::testing::HasSubstr;
using Gpus = std::vector<std::string>;

Container Of(const std::string& name, int slots, bool init = false, bool sidecar = false) {
  return {.name = name, .slots = slots, .init = init, .sidecar = sidecar};
}
Pod With(std::vector<Container> containers) {
  Pod pod;
  pod.containers = std::move(containers);
  return pod;
}
const Gpus kThree = {"a", "b", "c"};

TEST(Containers, EachGetsItsOwn) {
  const Pod pod = With({Of("one", 1), Of("none", 0), Of("two", 2)});
  EXPECT_EQ(GpusWanted(pod), 3);
  const ByContainer expected = {{"one", {"a"}}, {"two", {"b", "c"}}};
  EXPECT_EQ(Distribute(pod, kThree), expected);
}

TEST(Containers, LaterOnesHaveWhatInitContainersLeaveOver) {
  const Pod pod = With({Of("fetch", 1, true), Of("warm", 2, true), Of("main", 3)});
  EXPECT_EQ(GpusWanted(pod), 3);
  const ByContainer expected = {{"fetch", {"a"}}, {"warm", {"a", "b"}}, {"main", {"a", "b", "c"}}};
  EXPECT_EQ(Distribute(pod, kThree), expected);
}

TEST(Containers, SidecarsKeepTheirs) {
  const Pod pod = With({Of("fetch", 1, true), Of("proxy", 1, true, true), Of("main", 2)});
  const ByContainer expected = {{"fetch", {"a"}}, {"proxy", {"a"}}, {"main", {"b", "c"}}};
  EXPECT_EQ(Distribute(pod, kThree), expected);
}

TEST(Containers, WhatAKubeletWouldChooseAtRandomIsRefused) {
  const Pod pod = With({Of("fetch", 2, true), Of("left", 1), Of("right", 1)});
  EXPECT_THAT(FaultyContainers(pod),
              HasSubstr("container left asks for 1 GPUs, and init container fetch before it for 2"));
  EXPECT_EQ(Distribute(pod, Gpus{"a", "b"}), std::nullopt);
  EXPECT_THAT(FaultyContainers(With({Of("fetch", 1, true), Of("main", 0)})),
              HasSubstr("no container after it"));
}

TEST(Containers, WrongNumbersAreNotDistributed) {
  EXPECT_EQ(Distribute(With({Of("main", 2)}), kThree), std::nullopt);
}

}  // namespace
}  // namespace crossover::extender

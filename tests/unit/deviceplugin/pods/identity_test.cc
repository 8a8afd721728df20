#include "deviceplugin/pods/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proto/arbiter_protocol.h"

namespace crossover::deviceplugin {
namespace {

arbiter::Hello Claim() {
  arbiter::Hello hello;
  hello.gang = "mine";
  hello.gpu_uuid = "GPU-0";
  hello.gang_size = 64;
  hello.rank = 3;
  hello.priority = CROSSOVER_PRIORITY_HIGH;
  return hello;
}

Pod MadePod(std::map<std::string, std::string> annotations) {
  Pod pod;
  pod.name_space = "team";
  pod.name = "train-0";
  pod.owner = "train";
  pod.annotations = std::move(annotations);
  return pod;
}

TEST(HelloOfTest, TheGangIsThePodsWhateverItSays) {
  const arbiter::Hello hello = HelloOf(MadePod({}), Claim());
  EXPECT_EQ(hello.gang, "team/train");
  EXPECT_EQ(hello.name_space, "team");
  EXPECT_EQ(hello.pod, "train-0");
  EXPECT_EQ(hello.rank, 3u);
  EXPECT_EQ(hello.gang_size, 64u) << "of which nobody knows better";
}

TEST(HelloOfTest, AnnotationsGoBeforeItsOwnWishes) {
  const arbiter::Hello hello = HelloOf(MadePod({{"crossover.dev/turn-priority", "low"},
                                                {"crossover.dev/max-slowdown", "1.5"},
                                                {"crossover.dev/gang-size", "8"}}),
                                       Claim());
  EXPECT_EQ(hello.priority, static_cast<std::uint32_t>(CROSSOVER_PRIORITY_LOW));
  EXPECT_EQ(hello.max_slowdown, 1500u);
  EXPECT_EQ(hello.gang_size, 8u);
}

TEST(HelloOfTest, AnAnnotationThatIsNotAllowedCountsAsNotSet) {
  const arbiter::Hello hello = HelloOf(MadePod({{"crossover.dev/turn-priority", "highest"},
                                                {"crossover.dev/max-slowdown", "0.5"},
                                                {"crossover.dev/gang-size", "many"}}),
                                       Claim());
  EXPECT_EQ(hello.priority, static_cast<std::uint32_t>(CROSSOVER_PRIORITY_HIGH));
  EXPECT_EQ(hello.max_slowdown, 0u);
  EXPECT_EQ(hello.gang_size, 64u);
}

TEST(PodIdentityTest, AProcessOfNoPodIsRefused) {
  const PodTable pods;
  arbiter::Peer self;
  self.pid = getpid();
  self.pidfd.Reset(static_cast<int>(syscall(SYS_pidfd_open, self.pid, 0)));
  const auto outcome = PodIdentity(&pods).Identify(self, Claim());
  ASSERT_TRUE(std::holds_alternative<arbiter::Unidentified>(outcome));
  EXPECT_THAT(std::get<arbiter::Unidentified>(outcome).reason,
              testing::HasSubstr("belongs to no pod of this node"));
}

}  // namespace
}  // namespace crossover::deviceplugin

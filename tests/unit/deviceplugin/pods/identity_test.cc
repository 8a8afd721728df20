#include "deviceplugin/pods/identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

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
  EXPECT_EQ(hello.gang_size, 64u) << "no source says better";
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

TEST(HelloOfTest, TheMemoryIsTheLowerOfWhatThePodSetsAndWhatItWasGranted) {
  EXPECT_EQ(HelloOf(MadePod({}), Claim()).memory_mib, 0u);
  EXPECT_EQ(HelloOf(MadePod({{"crossover.dev/status-gpu-memory", "2147483649"}}), Claim()).memory_mib, 2049u);
  EXPECT_EQ(
      HelloOf(MadePod({{"crossover.dev/gpu-memory", "4Gi"}, {"crossover.dev/status-gpu-memory", "1Gi"}}),
              Claim())
          .memory_mib,
      1024u)
      << "a user cannot lift what was granted";
  EXPECT_EQ(
      HelloOf(MadePod({{"crossover.dev/gpu-memory", "1Gi"}, {"crossover.dev/status-gpu-memory", "4Gi"}}),
              Claim())
          .memory_mib,
      1024u);
  EXPECT_EQ(HelloOf(MadePod({{"crossover.dev/gpu-memory", "much"}}), Claim()).memory_mib, 0u);
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
  const Namespaces namespaces([] {});
  const AllocationIndex slots;
  arbiter::Peer self;
  self.pid = getpid();
  self.pidfd.Reset(static_cast<int>(syscall(SYS_pidfd_open, self.pid, 0)));
  const auto outcome = PodIdentity(&pods, &namespaces, &slots, "").Identify(self, Claim());
  ASSERT_TRUE(std::holds_alternative<arbiter::Unidentified>(outcome));
  EXPECT_THAT(std::get<arbiter::Unidentified>(outcome).reason,
              testing::HasSubstr("belongs to no pod of this node"));
}

constexpr char kUid[] = "0a1b2c3d-0000-4000-8000-000000000001";
const std::string kGroups = "0::/kubepods/burstable/pod" + std::string(kUid) + "/main\n";

// Returns what a process with these control groups may have, on a node with one pod that may have 64 MiB.
std::optional<std::uint32_t> MemoryIn(const std::optional<std::string>& cgroups, const char* pod = kUid) {
  PodTable pods;
  const Namespaces namespaces([] {});
  const AllocationIndex slots;
  pods.OnChange({{"metadata",
                  {{"name", "train-0"},
                   {"namespace", "team"},
                   {"uid", pod},
                   {"annotations", {{"crossover.dev/gpu-memory", "64Mi"}}}}}});
  return PodIdentity(&pods, &namespaces, &slots, "").MemoryOf(AccountIn(cgroups, "", arbiter::Peer()));
}

TEST(PodIdentityTest, AProcessMayHaveTheMemoryOfItsPod) { EXPECT_EQ(MemoryIn(kGroups), 64u); }

TEST(PodIdentityTest, AProcessOfNoPodHasNoLimit) { EXPECT_EQ(MemoryIn("0::/user.slice\n"), 0u); }

TEST(PodIdentityTest, NothingIsSaidOfAPodThatIsNotKnownYet) {
  EXPECT_EQ(MemoryIn(kGroups, "0a1b2c3d-0000-4000-8000-000000000002"), std::nullopt);
}

TEST(PodIdentityTest, NothingIsSaidOfAProcessThatCannotBeToldFromAnother) {
  EXPECT_EQ(MemoryIn(std::nullopt), std::nullopt);
  arbiter::Peer young;  // if the kernel names a process by its number alone
  young.pid = getpid();
  const PodTable pods;
  const Namespaces namespaces([] {});
  const AllocationIndex slots;
  const PodIdentity identity(&pods, &namespaces, &slots, "");
  EXPECT_EQ(identity.MemoryOf(identity.AccountOf(young)), std::nullopt);
}

// Returns whether a process with these control groups may be a signaller of an installation in `own`, on a
// node with one pod in the namespace "team".
bool MaySignalIn(const std::optional<std::string>& cgroups, const char* own) {
  PodTable pods;
  const Namespaces namespaces([] {});
  const AllocationIndex slots;
  pods.OnChange({{"metadata", {{"name", "train-0"}, {"namespace", "team"}, {"uid", kUid}}}});
  return PodIdentity(&pods, &namespaces, &slots, "", own).MaySignal(AccountIn(cgroups, "", arbiter::Peer()));
}

TEST(PodIdentityTest, OfPodsOnlyThoseOfTheInstallationMaySignal) {
  EXPECT_TRUE(MaySignalIn("0::/user.slice\n", "crossover-system")) << "a service of the node";
  EXPECT_TRUE(MaySignalIn(kGroups, "team"));
  EXPECT_FALSE(MaySignalIn(kGroups, "crossover-system")) << "a job's pod that runs as root";
  EXPECT_FALSE(MaySignalIn(kGroups, "")) << "the installation's namespace is not known";
  EXPECT_FALSE(MaySignalIn(std::nullopt, "team")) << "it cannot be told from another";
}

TEST(PodIdentityTest, ConnectionsCountAgainstThePodElseTheUser) {
  arbiter::Peer peer;
  peer.uid = 7;
  EXPECT_EQ(AccountIn(kGroups, "", peer).name, "pod " + std::string(kUid));
  EXPECT_EQ(AccountIn("0::/user.slice\n", "", peer).name, "user 7");
  EXPECT_EQ(AccountIn(std::nullopt, "", peer).name, "user 7");
}

// Returns the permissions of a client of a pod whose mode is `pod`, in namespace `team` whose mode is
// `name_space`. An empty mode is not set.
arbiter::Permissions StandingIn(const std::string& pod, const std::string& name_space,
                                const std::string& phase = "Running") {
  PodTable pods;
  Namespaces namespaces([] {});
  const AllocationIndex slots;
  const auto object = [](const char* name, const std::string& mode) {
    nlohmann::json made = {{"metadata", {{"name", name}, {"namespace", "team"}, {"uid", "u"}}}};
    if (!mode.empty()) made["metadata"]["annotations"] = {{"crossover.dev/mode", mode}};
    return made;
  };
  nlohmann::json of_pod = object("train-0", pod);
  of_pod["status"] = {{"phase", phase}};
  pods.OnChange(of_pod);
  namespaces.OnChange(object("team", name_space));
  arbiter::Member member;
  member.pod_uid = "u";
  return PodIdentity(&pods, &namespaces, &slots, "").PermissionsOf(member);
}

TEST(PodIdentityTest, TheStricterOfPodAndNamespaceHolds) {
  EXPECT_EQ(StandingIn("", "").policy, arbiter::Policy::kEnforce);
  EXPECT_EQ(StandingIn("enforce", "off").policy, arbiter::Policy::kOff)
      << "a pod does not undo what its namespace says";
  EXPECT_EQ(StandingIn("enforce", "off").reason, "crossover.dev/mode of namespace team is off");
  EXPECT_EQ(StandingIn("off", "observe").reason, "crossover.dev/mode of pod team/train-0 is off");
  EXPECT_EQ(StandingIn("observe", "").policy, arbiter::Policy::kObserve);
  EXPECT_EQ(StandingIn("Off", "").policy, arbiter::Policy::kEnforce) << "another value counts as not set";
}

TEST(PodIdentityTest, ClientsOfPodsThatAreNoMoreMayNotStay) {
  EXPECT_EQ(StandingIn("", "", "Failed").policy, arbiter::Policy::kOff);
  const PodTable pods;
  const Namespaces namespaces([] {});
  const AllocationIndex slots;
  EXPECT_EQ(PodIdentity(&pods, &namespaces, &slots, "").PermissionsOf(arbiter::Member()).policy,
            arbiter::Policy::kOff);
}

TEST(SlotBookTest, WhoHasASlotOfWhat) {
  AllocationIndex slots;
  EXPECT_FALSE(slots.Holds("u", "GPU-1")) << "nothing is known yet";
  slots.Set({{"u", "GPU-1"}});
  EXPECT_TRUE(slots.Holds("u", "GPU-1"));
  EXPECT_FALSE(slots.Holds("u", "GPU-2"));
  EXPECT_FALSE(slots.Holds("v", "GPU-1"));
}

TEST(PodIdentityTest, AProcessWhoseNumberMayBeAnothersIsRefused) {
  const PodTable pods;
  const Namespaces namespaces([] {});
  const AllocationIndex slots;
  arbiter::Peer self;
  self.pid = getpid();
  EXPECT_TRUE(std::holds_alternative<arbiter::Unidentified>(
      PodIdentity(&pods, &namespaces, &slots, "").Identify(self, Claim())));
}

}  // namespace
}  // namespace crossover::deviceplugin

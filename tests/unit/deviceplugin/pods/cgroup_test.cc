#include "deviceplugin/pods/cgroup.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace crossover::deviceplugin {
namespace {

constexpr char kUid[] = "3b6f3c2e-7d0a-4c57-9a44-0d5b7c1e2f90";
constexpr char kOther[] = "ffffffff-7d0a-4c57-9a44-0d5b7c1e2f90";

std::string With(std::string text, const std::string& uid = kUid) {
  for (std::size_t at; (at = text.find("UID")) != std::string::npos;) text.replace(at, 3, uid);
  return text;
}

std::optional<std::string> UidIn(const std::string& text, const std::string& root = "") {
  return PodUidOf(std::string_view(text), root);
}

TEST(CgroupTest, OfTheCgroupfsDriver) {
  EXPECT_EQ(
      UidIn(With(
          "12:memory:/kubepods/burstable/podUID/4f5a\n1:name=systemd:/kubepods/burstable/podUID/4f5a\n")),
      kUid);
  EXPECT_EQ(UidIn(With("0::/kubepods/podUID/4f5a\n")), kUid) << "guaranteed, one hierarchy";
  EXPECT_EQ(UidIn(With("0::/node-2/kubepods/besteffort/podUID/4f5a"), "node-2"), kUid)
      << "a root of the kubelet's own";
  EXPECT_EQ(UidIn(With("0::/../../kubepods/besteffort/podUID/4f5a")), kUid) << "seen from another namespace";
}

TEST(CgroupTest, OfTheSystemdDriver) {
  std::string uid = kUid;
  std::replace(uid.begin(), uid.end(), '-', '_');
  EXPECT_EQ(UidIn(With("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/"
                       "cri-containerd-4f5a.scope\n",
                       uid)),
            kUid);
  EXPECT_EQ(UidIn(With("0::/kubepods.slice/kubepods-podUID.slice/crio-4f5a.scope\n", uid)), kUid);
}

TEST(CgroupTest, APodThatIsNotFromTheApiServer) {
  const std::string uid(32, 'a');
  EXPECT_EQ(UidIn(With("0::/kubepods/burstable/podUID/4f5a", uid)), uid);
}

TEST(CgroupTest, APodCannotGiveItselfAnotherName) {
  EXPECT_EQ(UidIn(With("0::/kubepods/burstable/podUID/4f5a/kubepods/pod") + kOther), kUid);
  EXPECT_EQ(UidIn(With("0::/user.slice/podUID/x")), std::nullopt) << "not below the kubelet's group";
  EXPECT_EQ(UidIn(With("2:cpu:/kubepods/podUID/a\n1:memory:/kubepods/pod") + kOther + "/a\n"), std::nullopt)
      << "hierarchies that do not agree";
}

TEST(CgroupTest, NoOtherCanMakeAKubeletsGroup) {
  EXPECT_EQ(UidIn(With("0::/user.slice/user-1000.slice/user@1000.service/kubepods/podUID")), std::nullopt);
  EXPECT_EQ(UidIn(With("0::/kubepods/podUID"), "kubelet"), std::nullopt) << "its root is elsewhere";
  EXPECT_EQ(UidIn(With("0::/kubepods/burstable/another/podUID/x")), std::nullopt) << "too deep";
}

TEST(CgroupTest, SeenFromAPodsOwnGroup) {
  std::string uid = kUid;
  std::replace(uid.begin(), uid.end(), '-', '_');
  EXPECT_EQ(UidIn(With("0::/../../podUID/4f5a")), kUid) << "of the same class";
  EXPECT_EQ(UidIn(With("0::/../../../besteffort/podUID/4f5a")), kUid);
  EXPECT_EQ(
      UidIn(With("0::/../../../kubepods-besteffort.slice/kubepods-besteffort-podUID.slice/cri-1.scope", uid)),
      kUid);
  EXPECT_EQ(UidIn(With("0::/../../../../user.slice/podUID/x")), std::nullopt);
}

TEST(CgroupTest, OfAKubeletWithinSystemd) {
  std::string uid = kUid;
  std::replace(uid.begin(), uid.end(), '-', '_');
  EXPECT_EQ(UidIn(With("0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
                       "kubelet-kubepods-burstable-podUID.slice/cri-containerd-4f5a.scope",
                       uid),
                  "kubelet.slice"),
            kUid);
}

TEST(CgroupTest, WhereAKubeletsGroupsAre) {
  EXPECT_EQ(KubeletsRootIn("0::/kubepods/burstable/podx/1\n"), "");
  EXPECT_EQ(
      KubeletsRootIn("2:cpu:/docker/1/kubelet/kubepods/podx/1\n1:memory:/docker/1/kubelet/kubepods/podx/1\n"),
      "docker/1/kubelet");
  EXPECT_EQ(KubeletsRootIn("0::/system.slice/daemon.service\n"), "");
}

TEST(CgroupTest, NoPod) {
  for (const char* text :
       {"", "\n", "0::/", "0::/system.slice/containerd.service", "0::/kubepods/burstable",
        "0::/kubepods/podnonsense/x", "0::/kubepods/pod", ":", "::", "0", "kubepods/pod"}) {
    EXPECT_EQ(UidIn(text), std::nullopt) << text;
  }
}

TEST(CgroupTest, AProcessThatIsInNone) {
  arbiter::Peer self;
  self.pid = getpid();
  EXPECT_EQ(PodUidOf(self, ""), std::nullopt) << "without a descriptor its number proves nothing";
  self.pidfd.Reset(static_cast<int>(syscall(SYS_pidfd_open, self.pid, 0)));
  EXPECT_EQ(PodUidOf(self, ""), std::nullopt);
}

}  // namespace
}  // namespace crossover::deviceplugin

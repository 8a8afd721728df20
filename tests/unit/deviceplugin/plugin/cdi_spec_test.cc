#include "deviceplugin/plugin/cdi_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "deviceplugin/plugin/cdi_folder.h"

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// NVIDIA's toolkit writes a specification of this form under the GPU Operator, with the driver in a
// container: one device for all GPUs, and the driver's libraries for any of them.
constexpr char kManagement[] = R"(---
cdiVersion: 0.5.0
kind: management.nvidia.com/gpu
containerEdits:
  env:
  - NVIDIA_CTK_LIBCUDA_DIR=/usr/lib/x86_64-linux-gnu
  - NVIDIA_VISIBLE_DEVICES=void
  hooks:
  - hookName: createContainer
    path: /usr/local/nvidia/toolkit/nvidia-cdi-hook
    args: [nvidia-cdi-hook, update-ldcache, --folder, /usr/lib/x86_64-linux-gnu]
    env: [NVIDIA_CTK_DEBUG=false]
  mounts:
  - hostPath: /run/nvidia/driver/usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15
    containerPath: /usr/lib/x86_64-linux-gnu/libcuda.so.570.86.15
    options: [ro, nosuid, nodev, rbind, rprivate]
devices:
- name: all
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
      hostPath: /run/nvidia/driver/dev/nvidia0
    - path: /dev/nvidiactl
      hostPath: /dev/nvidiactl
)";

CdiSpec Read(const std::string& text) {
  std::string error;
  const auto spec = ReadCdiSpec(text, "file", &error);
  EXPECT_TRUE(spec) << error;
  return spec.value_or(CdiSpec());
}

std::string Refused(const std::string& text) {
  std::string error;
  EXPECT_FALSE(ReadCdiSpec(text, "file", &error)) << text;
  return error;
}

class ChooseCdiTest : public ::testing::Test {
 protected:
  // Returns our own specification, which must be what is chosen.
  json Own(CdiSource wanted = CdiSource::kAuto) {
    const CdiChoice choice = ChooseCdi(wanted, facts_);
    const auto* own = std::get_if<CdiOwn>(&choice);
    EXPECT_NE(own, nullptr) << Why(wanted);
    return own != nullptr ? json::parse(own->text) : json();
  }
  bool Given(CdiSource wanted = CdiSource::kAuto) {
    return std::holds_alternative<CdiGiven>(ChooseCdi(wanted, facts_));
  }
  std::string Why(CdiSource wanted = CdiSource::kAuto) {
    const CdiChoice choice = ChooseCdi(wanted, facts_);
    const auto* none = std::get_if<CdiNone>(&choice);
    return none != nullptr ? none->why : "";
  }
  CdiFacts facts_{.found = {Read(kManagement)},
                  .gpus = {{"GPU-a", 0}, {"GPU-b", 1}},
                  .device_files = {"/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia0", "/dev/nvidia1",
                                   "/dev/nvidiactl"},
                  .given_kind = "nvidia.com/gpu",
                  .driver_root = ""};
};

TEST(CdiSpecTest, ASpecificationOfTheToolkitIsRead) {
  const CdiSpec spec = Read(kManagement);
  EXPECT_EQ(spec.kind, "management.nvidia.com/gpu");
  EXPECT_THAT(spec.devices, ElementsAre("all"));
  ASSERT_EQ(spec.mounts.size(), 1u);
  EXPECT_THAT(spec.mounts[0].options, ElementsAre("ro", "nosuid", "nodev", "rbind", "rprivate"));
  ASSERT_EQ(spec.hooks.size(), 1u);
  EXPECT_THAT(spec.hooks[0].args, testing::SizeIs(4));
  EXPECT_EQ(spec.nodes[0], (CdiDeviceNode{"/dev/nvidia0", "/run/nvidia/driver/dev/nvidia0"}));
}

TEST(CdiSpecTest, WhatIsNoSpecificationIsRefusedWithItsPlace) {
  EXPECT_EQ(Refused(""), "file:1: kind: expected vendor/class, got \"\"");
  EXPECT_EQ(Refused("kind: gpu"), "file:1: kind: expected vendor/class, got gpu");
  EXPECT_THAT(Refused("{"), StartsWith("file:1: not YAML: "));
  EXPECT_THAT(Refused("kind: a/b\n---\nkind: a/b\n"), StartsWith("file:"));
  const std::string mount = "kind: a/b\ncontainerEdits:\n  mounts:\n  - {containerPath: /x, hostPath: ";
  for (const char* path : {"relative", "/a/../b", "/a/..", "\"/a\\nb\"", "[1]", "''"}) {
    EXPECT_THAT(
        Refused(mount + path + "}\n"),
        StartsWith("file:4: hostPath: expected an absolute path without .. and control characters, got "))
        << path;
  }
  EXPECT_EQ(Read(mount + "/a/..b}\n").mounts.size(), 1u) << "the control";
  EXPECT_THAT(Refused("kind: a/b\ncontainerEdits: {env: [\"A=\\u0007\"]}"),
              HasSubstr("env: expected texts without control characters, got A=?"));
  std::string many = "kind: a/b\ndevices: [";
  for (int i = 0; i < 5000; ++i) many += "{name: x},";
  EXPECT_THAT(Refused(many + "]"), HasSubstr("devices: expected at most 4096 entries, got 5000"));
}

TEST(CdiSpecTest, PartsOfOtherTypesReadAsEmpty) {
  for (const char* text :
       {"kind: a/b\ncontainerEdits: 3", "kind: a/b\ndevices: {}", "kind: a/b\ndevices: [1, []]",
        "kind: a/b\ncontainerEdits: {mounts: x, hooks: {}, env: 1}"}) {
    EXPECT_THAT(Read(text).mounts, IsEmpty()) << text;
  }
}

TEST_F(ChooseCdiTest, WhereOnlyAllGpusHaveANameTheDaemonNamesEach) {
  const json own = Own();
  EXPECT_EQ(own["kind"], kOwnCdiKind);
  EXPECT_EQ(own["cdiVersion"], "0.5.0");
  EXPECT_EQ(own["devices"], json::parse(R"([
      {"name": "GPU-a", "containerEdits":
          {"deviceNodes": [{"path": "/dev/nvidia0", "hostPath": "/run/nvidia/driver/dev/nvidia0"}]}},
      {"name": "GPU-b", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia1"}]}}])"));
  const json& edits = own["containerEdits"];
  EXPECT_EQ(edits["env"], json::parse(R"(["NVIDIA_CTK_LIBCUDA_DIR=/usr/lib/x86_64-linux-gnu"])"));
  EXPECT_EQ(edits["mounts"][0]["options"].size(), 5u);
  EXPECT_EQ(edits["hooks"][0]["env"], json::parse(R"(["NVIDIA_CTK_DEBUG=false"])"));
  EXPECT_EQ(edits["deviceNodes"], json::parse(R"([{"path": "/dev/nvidiactl"}, {"path": "/dev/nvidia-uvm"},
                            {"path": "/dev/nvidia-uvm-tools"}])"));
  // The daemon reads what it has written.
  const CdiSpec again = Read(own.dump());
  EXPECT_THAT(again.devices, ElementsAre("GPU-a", "GPU-b"));
  EXPECT_EQ(again.hooks, facts_.found[0].hooks);
  EXPECT_EQ(again.mounts, facts_.found[0].mounts);
}

TEST_F(ChooseCdiTest, TheGivenOneCountsWhereItNamesAllGpus) {
  facts_.found.push_back(Read("kind: nvidia.com/gpu\ndevices: [{name: GPU-a}, {name: GPU-b}, {name: all}]"));
  EXPECT_TRUE(Given());
  EXPECT_EQ(Own(CdiSource::kOwn)["devices"].size(), 2u);
  facts_.gpus.push_back({"GPU-c", 0});
  EXPECT_FALSE(Given()) << "it is older than the third GPU";
  facts_.gpus.pop_back();
  facts_.given_kind = "example.com/gpu";
  EXPECT_FALSE(Given());
  facts_.found.clear();
  EXPECT_TRUE(Given(CdiSource::kGiven)) << "an administrator says so";
}

TEST_F(ChooseCdiTest, TheDriversLibrariesComeFromNvidiasOrFromItsFolder) {
  facts_.found = {
      Read("kind: example.com/gpu\ncontainerEdits: {mounts: [{hostPath: /x, containerPath: /x}]}")};
  EXPECT_THAT(
      Why(),
      StartsWith("/etc/cdi, /var/run/cdi: expected a CDI specification of NVIDIA's toolkit, got none"));
  facts_.driver_root = "/opt/driver";
  EXPECT_EQ(Own()["containerEdits"]["mounts"][0]["hostPath"], "/opt/driver");
  facts_.found.push_back(
      Read("kind: nvidia.com/gpu\ncontainerEdits: {mounts: [{hostPath: /n, containerPath: /n}]}"));
  EXPECT_EQ(Own()["containerEdits"]["mounts"][0]["hostPath"], "/n");
  facts_.found.push_back(Read(kManagement));
  EXPECT_THAT(Own()["containerEdits"]["mounts"][0]["hostPath"], StartsWith("/run/nvidia/driver"));
}

TEST_F(ChooseCdiTest, DeviceFilesThatTheNodeLacksAreNamed) {
  facts_.device_files = {"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl"};
  EXPECT_THAT(Why(), StartsWith("/dev/nvidia-uvm: expected on the node, got no such file: "
                                "the driver makes it (nvidia-modprobe -u -c 0)"));
  facts_.device_files = {"/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidiactl"};
  EXPECT_THAT(Why(), StartsWith("/dev/nvidia1: expected on the node, got no such file: "
                                "the driver makes it (nvidia-modprobe -u -c 1)"));
}

class CdiFolderTest : public ::testing::Test {
 protected:
  CdiFolderTest() {
    char name[] = "/tmp/crossover-cdi-XXXXXX";
    root_ = mkdtemp(name);
    std::filesystem::create_directories(root_ + "/dev");
    std::filesystem::create_directories(root_ + "/etc/cdi");
    for (const char* file : {"nvidia0", "nvidiactl", "nvidia-uvm"}) Write("/dev/" + std::string(file), "");
  }
  ~CdiFolderTest() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& path, const std::string& text) { std::ofstream(root_ + path) << text; }
  std::string Written() {
    std::ostringstream text;
    text << std::ifstream(folder().path()).rdbuf();
    return text.str();
  }
  CdiFolder& folder() {
    if (!folder_)
      folder_.emplace(CdiFolder::Settings{.read = {root_ + "/etc/cdi", root_ + "/gone", root_ + "/run/cdi"},
                                          .write = root_ + "/run/cdi",
                                          .roots = {root_, root_ + "/gone"}});
    return *folder_;
  }
  CdiFolder::State Look() {
    return folder().Look({.source = CdiSource::kAuto,
                          .gpus = {{"GPU-a", 0}},
                          .given_kind = "nvidia.com/gpu",
                          .driver_root = ""});
  }
  std::string root_;
  std::optional<CdiFolder> folder_;
};

TEST_F(CdiFolderTest, ItsFileIsMadeAndMadeAgain) {
  EXPECT_THAT(Look().why, HasSubstr("expected a CDI specification of NVIDIA's toolkit, got none"));
  Write("/etc/cdi/nvidia.yaml", kManagement);
  EXPECT_EQ(Look(), (CdiFolder::State{.own = true, .why = ""}));
  EXPECT_THAT(Written(), HasSubstr("GPU-a"));
  std::filesystem::remove_all(root_ + "/run");  // a reboot empties it
  EXPECT_EQ(Look(), (CdiFolder::State{.own = true, .why = ""}));
  EXPECT_THAT(Written(), HasSubstr("GPU-a"));
  EXPECT_FALSE(std::filesystem::exists(folder().path() + ".new"));
}

TEST_F(CdiFolderTest, AChangeOfAFileIsSeen) {
  Write("/etc/cdi/nvidia.yaml", kManagement);
  EXPECT_TRUE(Look().own);
  Write("/etc/cdi/uuids.json", R"({"kind": "nvidia.com/gpu", "devices": [{"name": "GPU-a"}]})");
  EXPECT_EQ(Look(), CdiFolder::State());
  EXPECT_THAT(Written(), HasSubstr("GPU-a")) << "containers that have its names may start again";
  Write("/etc/cdi/uuids.json", "{");
  EXPECT_TRUE(Look().own) << "a file that cannot be read names nothing";
}

TEST_F(CdiFolderTest, AFolderThatCannotBeWrittenIsTold) {
  Write("/etc/cdi/nvidia.yaml", kManagement);
  Write("/run", "a file in its place");
  EXPECT_THAT(Look().why, HasSubstr("/run/cdi/crossover.dev-gpu.json: cannot be written: "));
}

}  // namespace
}  // namespace crossover::deviceplugin

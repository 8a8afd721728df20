#include "deviceplugin/plugin/allocation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "deviceplugin/plugin/device_files.h"

namespace crossover::deviceplugin {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr char kA[] = "GPU-00000000-0000-0000-0000-00000000000a";
constexpr char kB[] = "GPU-00000000-0000-0000-0000-00000000000b";

class AllocateTest : public ::testing::Test {
 protected:
  AllocateTest() {
    settings_.library_directory = "/var/lib/crossover/lib/1";
    settings_.socket_directory = "/run/crossover/arbiter";
  }
  Allocation Allowed(const std::vector<std::string>& ids) {
    const auto outcome = Allocate(ids, gpus_, settings_);
    EXPECT_TRUE(std::holds_alternative<Allocation>(outcome)) << std::get<AllocationRefused>(outcome).reason;
    return std::holds_alternative<Allocation>(outcome) ? std::get<Allocation>(outcome) : Allocation();
  }
  std::string Refused(const std::vector<std::string>& ids) {
    const auto outcome = Allocate(ids, gpus_, settings_);
    EXPECT_TRUE(std::holds_alternative<AllocationRefused>(outcome));
    return std::holds_alternative<AllocationRefused>(outcome) ? std::get<AllocationRefused>(outcome).reason
                                                              : "";
  }
  static std::string Slot(const char* gpu, int slot) {
    return std::string(gpu) + "::" + std::to_string(slot);
  }

  std::map<std::string, AllocatableGpu> gpus_ = {
      {kA, {.device_files = {"/dev/nvidia0", "/dev/nvidiactl"}}},
      {kB, {.device_files = {"/dev/nvidia1", "/dev/nvidiactl"}}},
  };
  AllocationSettings settings_;
};

TEST_F(AllocateTest, CdiNamesOfTheGpusInOneOrder) {
  const Allocation allocation = Allowed({Slot(kB, 1), Slot(kA, 0)});
  EXPECT_THAT(allocation.cdi_names,
              ElementsAre(std::string("nvidia.com/gpu=") + kA, std::string("nvidia.com/gpu=") + kB));
  EXPECT_THAT(allocation.environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "void")));
  EXPECT_THAT(allocation.device_files, IsEmpty());
}

TEST_F(AllocateTest, DeviceFilesOnceEach) {
  settings_.devices = DeviceStrategy::kDeviceNodes;
  settings_.driver_root = "/home/kubernetes/bin/nvidia";
  const Allocation allocation = Allowed({Slot(kA, 0), Slot(kB, 0)});
  EXPECT_THAT(allocation.device_files, ElementsAre("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl"));
  EXPECT_THAT(allocation.mounts, Contains(Mount{"/usr/local/nvidia", "/home/kubernetes/bin/nvidia", true}));
  EXPECT_THAT(allocation.environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "void")));
  EXPECT_THAT(allocation.cdi_names, IsEmpty());
}

TEST_F(AllocateTest, TheEnvironmentNamesTheGpus) {
  settings_.devices = DeviceStrategy::kEnvironment;
  const Allocation allocation = Allowed({Slot(kB, 0), Slot(kA, 1)});
  EXPECT_THAT(allocation.environment,
              ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", std::string(kA) + "," + kB)));
  EXPECT_THAT(allocation.device_files, ElementsAre("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl"))
      << "without them a daemon-reload takes the GPUs from the container";
  EXPECT_THAT(allocation.cdi_names, IsEmpty());
}

TEST_F(AllocateTest, OnlyDeviceNodesMountTheDriver) {
  settings_.driver_root = "/home/kubernetes/bin/nvidia";
  settings_.devices = DeviceStrategy::kEnvironment;
  EXPECT_THAT(Allowed({Slot(kA, 0)}).mounts,
              Not(Contains(testing::Field(&Mount::container_path, "/usr/local/nvidia"))));
}

TEST(DeviceFilesTest, FilesThatTheNodeLacksAreLeftOut) {
  char name[] = "/tmp/crossover-devices-XXXXXX";
  const std::string root = mkdtemp(name);
  std::filesystem::create_directory(root + "/dev");
  std::ofstream(root + "/dev/nvidia0") << "";
  Allocation allocation;
  allocation.device_files = {"/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia1"};
  EXPECT_THAT(DropAbsentFiles(root, &allocation), ElementsAre("/dev/nvidia-uvm", "/dev/nvidia1"));
  EXPECT_THAT(allocation.device_files, ElementsAre("/dev/nvidia0"));
  EXPECT_THAT(DropAbsentFiles(root, &allocation), IsEmpty());
  std::filesystem::remove_all(root);
}

TEST_F(AllocateTest, TheLibraryComesByTheLoadersOwnFile) {
  EXPECT_THAT(
      Allowed({Slot(kA, 0)}).mounts,
      UnorderedElementsAre(Mount{"/opt/crossover", "/var/lib/crossover/lib/1", true},
                           Mount{"/run/crossover", "/run/crossover/arbiter", true},
                           Mount{"/etc/ld.so.preload", "/var/lib/crossover/lib/1/ld.so.preload", true}));
}

TEST_F(AllocateTest, OrByTheEnvironment) {
  settings_.injection = Injection::kEnvironment;
  const Allocation allocation = Allowed({Slot(kA, 0)});
  EXPECT_THAT(allocation.environment, Contains(Pair("LD_PRELOAD", "/opt/crossover/libcrossover.so")));
  EXPECT_EQ(allocation.mounts.size(), 2u);
}

TEST_F(AllocateTest, ClientsOfMpsMeetItsServer) {
  settings_.mps_directory = "/run/crossover/mps";
  const Allocation allocation = Allowed({Slot(kA, 0)});
  EXPECT_THAT(allocation.environment, Contains(Pair("CUDA_MPS_PIPE_DIRECTORY", "/run/crossover-mps/pipe")));
  EXPECT_THAT(allocation.mounts,
              Contains(Mount{"/run/crossover-mps/pipe", "/run/crossover/mps/pipe", false}));
  EXPECT_THAT(allocation.mounts, Contains(Mount{"/dev/shm", "/run/crossover/mps/shm", false}));
}

TEST_F(AllocateTest, RefusesTwoSlotsOfOneGpu) {
  EXPECT_THAT(Refused({Slot(kA, 0), Slot(kB, 0), Slot(kA, 1)}),
              HasSubstr(std::string("two slots of GPU ") + kA));
  EXPECT_THAT(Refused({Slot(kA, 0), Slot(kA, 0)}), HasSubstr("two slots"));
}

TEST_F(AllocateTest, RefusesWhatIsNotHere) {
  EXPECT_THAT(Refused({}), HasSubstr("device IDs: expected at least one, got none"));
  EXPECT_THAT(Refused({"nonsense"}), HasSubstr("device ID: expected GPU-<uuid>::<slot>, got nonsense"));
  EXPECT_THAT(Refused({"GPU-00000000-0000-0000-0000-00000000000c::0"}),
              HasSubstr("expected one of a GPU of this node"));
}

}  // namespace
}  // namespace crossover::deviceplugin

#include "deviceplugin/inventory/gpu_watch.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace crossover::deviceplugin {
namespace {

using base::Withheld;
using std::chrono::milliseconds;

class GpuWatchTest : public ::testing::Test {
 protected:
  GpuWatchTest() : fake_(dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL)) { Knob("fake_nvml_gpus", 2); }
  ~GpuWatchTest() override {
    watch_.reset();
    for (const char* name :
         {"fake_nvml_lost", "fake_nvml_old", "fake_nvml_wants_reset", "fake_nvml_xid", "fake_nvml_no_memory"})
      Knob(name, 0);
    dlclose(fake_);
  }
  // Sets something in the library that the watch has loaded, too.
  void Knob(const char* name, unsigned value) {
    reinterpret_cast<void (*)(unsigned)>(dlsym(fake_, name))(value);
  }

  void Start() {
    watch_ = std::make_unique<GpuWatch>(
        GpuWatch::Settings{.live = Live(3), .look = milliseconds(20), .library = FAKE_NVML, .withheld = {}},
        &devices_);
  }
  static GpuWatch::Live Live(std::uint32_t slots, std::uint64_t memory_bytes = 0) {
    return {.slots_per_gpu = slots, .quiet = std::chrono::seconds(0), .memory_bytes = memory_bytes};
  }
  // Waits until `done` is true of the list. Otherwise the test times out.
  void Await(const std::function<bool(const DeviceList::Gpus&)>& done) {
    std::uint64_t version = 0;
    while (!done(devices_.gpus())) version = devices_.AwaitChange(version, milliseconds(50));
  }
  bool Healthy(const char* uuid) const { return devices_.gpus().at(uuid).healthy; }

  void* fake_;
  DeviceList devices_;
  std::unique_ptr<GpuWatch> watch_;
};

TEST_F(GpuWatchTest, TheListIsThereFromTheStart) {
  Start();
  const auto gpus = devices_.gpus();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus.at("GPU-0").slots, 3u);
  EXPECT_TRUE(Healthy("GPU-0"));
}

TEST_F(GpuWatchTest, WhatIsWithheldForOtherReasonsIsToo) {
  Start();
  watch_->Withhold({{"GPU-1", {Withheld::kForeignProcess, "used by a process"}}}, std::nullopt);
  EXPECT_TRUE(Healthy("GPU-0"));
  EXPECT_FALSE(Healthy("GPU-1"));
  EXPECT_EQ(watch_->faults().at("GPU-1"),
            (base::WithheldReason{Withheld::kForeignProcess, "used by a process"}));
  watch_->Withhold({}, base::WithheldReason{Withheld::kMaintenance, "maintenance"});
  EXPECT_FALSE(Healthy("GPU-0"));
  EXPECT_FALSE(Healthy("GPU-1"));
  watch_->Withhold({}, std::nullopt);
  EXPECT_TRUE(Healthy("GPU-0"));
  EXPECT_TRUE(watch_->faults().empty());
}

TEST_F(GpuWatchTest, SlotsChangeWhileItRuns) {
  Start();
  watch_->Set(Live(5));
  EXPECT_EQ(devices_.gpus().at("GPU-0").slots, 5u);
  EXPECT_EQ(watch_->gpus().size(), 2u);
}

TEST_F(GpuWatchTest, AGpuThatTellsNoMemoryHasOneSlotUntilASettingTellsIt) {
  for (const unsigned how : {1u, 2u}) {  // it refuses to say, and it says 0
    Knob("fake_nvml_no_memory", how);
    Start();
    EXPECT_EQ(devices_.gpus().at("GPU-0").slots, 1u);
    EXPECT_TRUE(Healthy("GPU-0")) << "it is given out";
    EXPECT_EQ(watch_->gpus()[0].memory_bytes, std::nullopt);
    EXPECT_EQ(watch_->of_unknown_memory(), (std::set<std::string>{"GPU-0", "GPU-1"}));
    watch_->Set(Live(3, std::uint64_t{119} << 30));
    EXPECT_EQ(devices_.gpus().at("GPU-0").slots, 3u);
    EXPECT_EQ(watch_->gpus()[0].memory_bytes, std::uint64_t{119} << 30);
    EXPECT_TRUE(watch_->of_unknown_memory().empty());
    watch_->Set(Live(1));
    EXPECT_TRUE(watch_->of_unknown_memory().empty()) << "it has one slot anyway";
    watch_.reset();
  }
}

TEST_F(GpuWatchTest, WhatTheDriverTellsCountsAndStaysWhereItFailsLater) {
  Start();
  watch_->Set(Live(3, std::uint64_t{119} << 30));
  EXPECT_EQ(watch_->gpus()[0].memory_bytes, std::uint64_t{1} << 30);
  Knob("fake_nvml_no_memory", 1);
  Knob("fake_nvml_wants_reset", 1);
  Await([](const auto& gpus) { return !gpus.at("GPU-0").healthy; });  // it has looked again
  EXPECT_EQ(watch_->gpus()[0].memory_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(devices_.gpus().at("GPU-0").slots, 3u);
}

TEST_F(GpuWatchTest, FewerSlotsThanPodsHaveAreCountedByThePodsThatAreThere) {
  Start();
  watch_->Keep({{"GPU-0", {1, 2}}});
  EXPECT_THAT(NumbersOf(devices_.gpus().at("GPU-0")), testing::ElementsAre(0u, 1u, 2u));
  watch_->Set(Live(2));
  EXPECT_TRUE(Healthy("GPU-0"));
  EXPECT_THAT(NumbersOf(devices_.gpus().at("GPU-0")), testing::ElementsAre(1u, 2u)) << "both are taken";
  watch_->Set(Live(1));
  EXPECT_FALSE(Healthy("GPU-0")) << "a pod that comes when one of them goes would be a second";
  EXPECT_EQ(
      watch_->faults().at("GPU-0"),
      (base::WithheldReason{Withheld::kTooManyHeld, "pods have 2 slots of this GPU, and it has 1 now"}));
  EXPECT_TRUE(Healthy("GPU-1"));
  watch_->Keep({{"GPU-0", {2}}});
  EXPECT_TRUE(Healthy("GPU-0"));
  EXPECT_THAT(NumbersOf(devices_.gpus().at("GPU-0")), testing::ElementsAre(2u));
  watch_->Keep({});
  EXPECT_THAT(NumbersOf(devices_.gpus().at("GPU-0")), testing::ElementsAre(0u));
}

TEST_F(GpuWatchTest, APodThatComesOrGoesIsNothingNewToTheKubelet) {
  Start();
  const std::uint64_t before = devices_.version();
  watch_->Keep({{"GPU-0", {2}}});
  watch_->Keep({});
  EXPECT_EQ(devices_.version(), before);
}

TEST_F(GpuWatchTest, AGpuThatErrsIsWithheld) {
  Knob("fake_nvml_old", 1);
  Start();
  Knob("fake_nvml_xid", 79);  // on the first GPU
  Await([](const auto& gpus) { return !gpus.at("GPU-0").healthy; });
  EXPECT_TRUE(Healthy("GPU-1"));
  EXPECT_EQ(watch_->xids().at({"GPU-0", 79}), 1u);
}

TEST_F(GpuWatchTest, AGpuThatTheDriverWantsResetIsWithheldUntilItIs) {
  Start();
  Knob("fake_nvml_wants_reset", 1);
  Await([](const auto& gpus) { return !gpus.at("GPU-0").healthy; });
  Knob("fake_nvml_wants_reset", 0);
  Await([](const auto& gpus) { return gpus.at("GPU-0").healthy; });
}

TEST_F(GpuWatchTest, AnErrorOfAProgramWithholdsNothing) {
  Start();
  const std::uint64_t before = devices_.version();
  Knob("fake_nvml_xid", 31);
  while (watch_->xids().empty()) std::this_thread::sleep_for(milliseconds(1));
  watch_.reset();  // what it does about it is done by then
  EXPECT_EQ(devices_.version(), before);
}

TEST_F(GpuWatchTest, AGpuThatFallsOffTheBusStaysListed) {
  Start();
  Knob("fake_nvml_lost", 1);
  Await([](const auto& gpus) { return !gpus.at("GPU-1").healthy; });
  Knob("fake_nvml_xid", 31);
  while (watch_->xids().empty()) std::this_thread::sleep_for(milliseconds(1));  // on the GPU that is left
  EXPECT_EQ(devices_.gpus().size(), 2u) << "the kubelet refuses to start its containers again, and says why";
  Knob("fake_nvml_lost", 0);
  Await([](const auto& gpus) { return gpus.at("GPU-1").healthy; });
  Knob("fake_nvml_old", 1);
  Knob("fake_nvml_xid", 48);
  Await([](const auto& gpus) { return !gpus.at("GPU-0").healthy; });  // errors are told of as before
}

TEST_F(GpuWatchTest, GpusThatComeLaterAreAdvertised) {
  Knob("fake_nvml_gpus", 0);
  Start();
  EXPECT_TRUE(devices_.gpus().empty());
  Knob("fake_nvml_gpus", 2);
  Await([](const auto& gpus) { return gpus.size() == 2; });
}

}  // namespace
}  // namespace crossover::deviceplugin

#include "deviceplugin/nvml/memory_watch.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/unit/deviceplugin/made_member.h"

namespace crossover::deviceplugin {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<NvmlLibrary> Load(const std::string& name) {
  std::string error;
  auto library = NvmlLibrary::Load(name, &error);
  EXPECT_NE(library, nullptr) << error;
  return library;
}

TEST(NvmlLibraryTest, AMachineWithoutItSaysSo) {
  std::string error;
  EXPECT_EQ(NvmlLibrary::Load("libno-such-library.so.1", &error), nullptr);
  EXPECT_THAT(error, HasSubstr("libno-such-library.so.1"));
  EXPECT_EQ(NvmlLibrary::Load("libm.so.6", &error), nullptr);
  EXPECT_THAT(error, HasSubstr("libm.so.6: it has no nvmlInit_v2: "));
}

TEST(NvmlLibraryTest, ListsProcessesWithAndWithoutMps) {
  const auto nvml = Load(FAKE_NVML);
  const auto bytes = nvml->MemoryByProcess("GPU-0");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->size(), 100u);
  EXPECT_EQ(bytes->at(1000), 30u) << "in both lists: not twice";
  EXPECT_EQ(bytes->count(1001), 0u) << "the driver does not know";
  EXPECT_EQ(bytes->at(1099), 10u) << "also where there are many";
  EXPECT_EQ(bytes->at(7), 40u);
  EXPECT_FALSE(nvml->MemoryByProcess("GPU-1"));
}

TEST(NvmlLibraryTest, SaysHowEachGpuIsUsed) {
  const auto usages = Load(FAKE_NVML)->Usages();
  ASSERT_EQ(usages.size(), 2u);
  EXPECT_EQ(usages.at("GPU-0").busy, 0.75);
  EXPECT_EQ(usages.at("GPU-1").busy, std::nullopt) << "its driver does not say";
  EXPECT_EQ(usages.at("GPU-1").memory_total, 1u << 30);
  EXPECT_EQ(usages.at("GPU-1").memory_used, 1u << 28);
}

class MemoryWatchTest : public ::testing::Test {
 protected:
  std::shared_ptr<arbiter::Member> Join(const std::string& gang, const std::string& uuid, std::int64_t pid) {
    const auto member = arbiter::MadeMember(++last_id_, gang, uuid);
    auto gpu = std::make_shared<arbiter::GpuInfo>();
    gpu->uuid = uuid;
    std::string error;
    gpu->page = arbiter::Page::Create(&error);
    EXPECT_NE(gpu->page, nullptr) << error;
    member->gpu = gpu;
    member->pid = pid;
    arbiter::Event event{};
    event.kind = arbiter::EventKind::kJoin;
    event.gpu = member->gpu;
    event.member = member;
    stats_store_.OnEvent(event);
    return member;
  }
  std::optional<std::uint64_t> Peak(const std::string& gang) const {
    const auto profile = stats_store_.Profile({.gang = gang});
    if (!profile) return std::nullopt;
    return profile->peak_memory->value;
  }

  StatsStore stats_store_;
  std::uint64_t last_id_ = 0;
};

TEST_F(MemoryWatchTest, TellsTheBooksOfEachClientsProcess) {
  Join("a", "GPU-0", 7);
  Join("b", "GPU-0", 1002);
  Join("hidden", "GPU-0", 0);
  Join("other", "GPU-0", 8);
  Join("elsewhere", "GPU-1", 7);
  LookAtMemory(*Load(FAKE_NVML), &stats_store_);
  EXPECT_EQ(Peak("a"), 40u);
  EXPECT_EQ(Peak("b"), 10u);
  for (const char* gang : {"hidden", "other", "elsewhere"}) EXPECT_FALSE(Peak(gang)) << gang;
}

// A job that was refused counts as needing more than its budget. Otherwise a job whose budget was learnt
// from runs that needed less would be refused for ever.
TEST_F(MemoryWatchTest, WhoWasRefusedNeedsMoreThanItsBudget) {
  const auto member = Join("a", "GPU-0", 7);
  crossover_slot& slot = member->gpu->page->slot(0);
  slot.memory_refusals = 1;
  LookAtMemory(*Load(FAKE_NVML), &stats_store_);
  EXPECT_EQ(Peak("a"), 40u) << "of no budget";
  slot.memory_budget_mib = 100;
  slot.memory_refusals = 0;
  LookAtMemory(*Load(FAKE_NVML), &stats_store_);
  EXPECT_EQ(Peak("a"), 40u) << "nothing was refused";
  slot.memory_refusals = 1;
  LookAtMemory(*Load(FAKE_NVML), &stats_store_);
  EXPECT_EQ(Peak("a"), 150u << 20);
  EXPECT_EQ(stats_store_.Profile({.gang = "a"})->peak_memory->source, MeasurementSource::kRefused);
}

TEST_F(MemoryWatchTest, LooksByItselfUntilItEnds) {
  Join("a", "GPU-0", 7);
  const MemoryWatch watch(FAKE_NVML, &stats_store_);
  while (!Peak("a") || watch.usages().empty()) std::this_thread::yield();
  EXPECT_EQ(watch.usages().at("GPU-0").busy, 0.75);
}

// The daemon often starts before the driver is there.
TEST_F(MemoryWatchTest, LooksAsSoonAsThereIsADriver) {
  const std::string library = ::testing::TempDir() + "/libnvidia-ml-later.so." + std::to_string(::getpid());
  Join("a", "GPU-0", 7);
  const MemoryWatch watch(library, &stats_store_);
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  EXPECT_FALSE(Peak("a"));
  ASSERT_EQ(::symlink(FAKE_NVML, library.c_str()), 0);
  while (!Peak("a") || watch.usages().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ::unlink(library.c_str());
}

TEST_F(MemoryWatchTest, AsksADriverThatWasLoadedAnewAnew) {
  void* const fake = dlopen(FAKE_NVML, RTLD_NOW | RTLD_LOCAL);
  const auto gpus = reinterpret_cast<void (*)(unsigned)>(dlsym(fake, "fake_nvml_gpus"));
  const auto starts = reinterpret_cast<unsigned (*)()>(dlsym(fake, "fake_nvml_starts"));
  const MemoryWatch watch(FAKE_NVML, &stats_store_);
  while (watch.usages().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const unsigned before = starts();
  gpus(0);  // the old one answers no more
  while (!watch.usages().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  gpus(2);
  while (watch.usages().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GT(starts(), before);
  dlclose(fake);
}

}  // namespace
}  // namespace crossover::deviceplugin

#include "deviceplugin/gpu_processes/process_classifier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr ProcessClassifier::Time kSecond = 1'000'000'000;

GpuProcess Process(pid_t pid, std::optional<std::string> pod, const char* program = "python") {
  return {.gpu_uuid = "GPU-1", .pid = pid, .program = program, .pod_uid = std::move(pod)};
}

class ProcessClassifierTest : public ::testing::Test {
 protected:
  ProcessClassifierTest() { At(0, {}); }  // there was no process before
  ProcessClassifier::Verdicts At(int second, const std::vector<GpuProcess>& gpu_processes) {
    return judge_.Judge(gpu_processes, known_, second * kSecond);
  }
  ProcessClassifier judge_;
  ProcessClassifier::Known known_{
      .holders = {{"ours", "GPU-1"}}, .clients = {{7, "GPU-1"}}, .mps_servers = {}, .own_pods = {}};
};

TEST_F(ProcessClassifierTest, AProcessThatStaysWithoutASlotTakesTheGpu) {
  const std::vector<GpuProcess> stranger = {Process(5, std::nullopt)};
  EXPECT_THAT(At(0, stranger).strangers, IsEmpty());
  EXPECT_THAT(At(4, stranger).strangers, IsEmpty()) << "it may only look around";
  EXPECT_EQ(At(5, stranger).strangers.at("GPU-1").pid, 5);
  EXPECT_THAT(At(6, {}).strangers, IsEmpty());
  EXPECT_THAT(At(7, stranger).strangers, IsEmpty()) << "another, whatever its number";
}

TEST_F(ProcessClassifierTest, APodWithoutASlotOfTheGpuIsAStranger) {
  const std::vector<GpuProcess> gpu_processes = {Process(5, "other")};
  At(0, gpu_processes);
  EXPECT_EQ(At(5, gpu_processes).strangers.at("GPU-1").pod_uid, "other");
  GpuProcess elsewhere = Process(6, "ours");
  elsewhere.gpu_uuid = "GPU-2";
  At(6, {elsewhere});
  EXPECT_THAT(At(11, {elsewhere}).strangers, SizeIs(1)) << "it has a slot of another";
}

TEST_F(ProcessClassifierTest, AProcessWithASlotThatIsNotHeardOfIsUnhooked) {
  const std::vector<GpuProcess> gpu_processes = {Process(7, "ours"), Process(8, "ours")};
  At(0, gpu_processes);
  EXPECT_THAT(At(29, gpu_processes).unhooked, IsEmpty());
  const auto verdicts = At(30, gpu_processes);
  ASSERT_THAT(verdicts.unhooked, SizeIs(1));
  EXPECT_EQ(verdicts.unhooked[0].pid, 8);
  EXPECT_THAT(verdicts.strangers, IsEmpty());
  known_.clients.insert({8, "GPU-1"});
  EXPECT_THAT(At(31, gpu_processes).unhooked, IsEmpty()) << "it has joined";
}

TEST_F(ProcessClassifierTest, TheServerOfMpsIsNoOccupantAndANameIsNoServer) {
  const std::vector<GpuProcess> gpu_processes = {Process(5, std::nullopt, "nvidia-cuda-mps"),
                                                 Process(6, "other", "nvidia-cuda-mps")};
  known_.mps_servers = {5};
  At(0, gpu_processes);
  EXPECT_EQ(At(60, gpu_processes).strangers.at("GPU-1").pid, 6);
  EXPECT_THAT(At(61, gpu_processes).unregistered, SizeIs(1)) << "the server does not count";
  known_.mps_servers.clear();
  EXPECT_EQ(At(62, {gpu_processes[0]}).strangers.size(), 0u)
      << "nor a stranger as soon as it is not known to be one";
}

TEST_F(ProcessClassifierTest, ASignallerIsNoOccupant) {
  const std::vector<GpuProcess> gpu_processes = {Process(5, "crossover's")};
  known_.own_pods = {"crossover's"};
  At(0, gpu_processes);
  const auto verdicts = At(60, gpu_processes);
  EXPECT_THAT(verdicts.strangers, IsEmpty());
  EXPECT_THAT(verdicts.unregistered, IsEmpty());
  known_.own_pods.clear();
  At(61, gpu_processes);
  EXPECT_THAT(At(66, gpu_processes).strangers, SizeIs(1)) << "the control: the same process in another pod";
}

TEST_F(ProcessClassifierTest, AProcessThatIsNoClientIsUnheardFromTheFirstLook) {
  EXPECT_THAT(At(0, {Process(7, "ours")}).unregistered, IsEmpty());
  EXPECT_THAT(At(1, {Process(7, "ours"), Process(8, "ours"), Process(9, std::nullopt)}).unregistered,
              SizeIs(2));
}

TEST_F(ProcessClassifierTest, AProcessThatIsThereAtTheFirstLookMayHaveBeenForLong) {
  ProcessClassifier judge;
  const std::vector<GpuProcess> there = {Process(5, std::nullopt), Process(8, "ours")};
  auto verdicts = judge.Judge(there, known_, 0);
  EXPECT_EQ(verdicts.strangers.at("GPU-1").pid, 5);
  EXPECT_THAT(verdicts.unhooked, IsEmpty()) << "a pod of ours may just have begun";
  verdicts = judge.Judge({there[1]}, known_, 10 * kSecond);
  EXPECT_THAT(verdicts.strangers, IsEmpty());
  EXPECT_THAT(verdicts.unhooked, IsEmpty());
  EXPECT_THAT(judge.Judge({there[1]}, known_, ProcessClassifier::kUnregistered).unhooked, SizeIs(1));
}

TEST_F(ProcessClassifierTest, AProcessThatComesAfterTheFirstLookMayOnlyLookAround) {
  ProcessClassifier judge;
  judge.Judge({Process(8, "ours")}, known_, 0);
  const std::vector<GpuProcess> later = {Process(8, "ours"), Process(5, std::nullopt)};
  EXPECT_THAT(judge.Judge(later, known_, 2 * kSecond).strangers, IsEmpty());
  EXPECT_THAT(judge.Judge(later, known_, 6 * kSecond).strangers, IsEmpty());
  EXPECT_THAT(judge.Judge(later, known_, 7 * kSecond).strangers, SizeIs(1));
}

TEST(DescribeTest, TheSameFaultHasTheSameWords) {
  EXPECT_EQ(ProcessClassifier::Describe(Process(5, std::nullopt, "python")),
            ProcessClassifier::Describe(Process(6, std::nullopt, "bash")));
  EXPECT_EQ(ProcessClassifier::Describe(Process(5, "other")),
            "used by a process of pod other, which has no slot of it");
}

}  // namespace
}  // namespace crossover::deviceplugin

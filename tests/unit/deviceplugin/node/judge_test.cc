#include "deviceplugin/occupants/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossover::deviceplugin {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr OccupantJudge::Time kSecond = 1'000'000'000;

Occupant Process(pid_t pid, std::optional<std::string> pod, const char* program = "python") {
  return {.gpu_uuid = "GPU-1", .pid = pid, .program = program, .pod_uid = std::move(pod)};
}

class OccupantJudgeTest : public ::testing::Test {
 protected:
  OccupantJudgeTest() { At(0, {}); }  // there was no process before
  OccupantJudge::Verdicts At(int second, const std::vector<Occupant>& occupants) {
    return judge_.Judge(occupants, known_, second * kSecond);
  }
  OccupantJudge judge_;
  OccupantJudge::Known known_{
      .holders = {{"ours", "GPU-1"}}, .clients = {{7, "GPU-1"}}, .mps_servers = {}, .own_pods = {}};
};

TEST_F(OccupantJudgeTest, AProcessThatStaysWithoutASlotTakesTheGpu) {
  const std::vector<Occupant> stranger = {Process(5, std::nullopt)};
  EXPECT_THAT(At(0, stranger).strangers, IsEmpty());
  EXPECT_THAT(At(4, stranger).strangers, IsEmpty()) << "it may only look around";
  EXPECT_EQ(At(5, stranger).strangers.at("GPU-1").pid, 5);
  EXPECT_THAT(At(6, {}).strangers, IsEmpty());
  EXPECT_THAT(At(7, stranger).strangers, IsEmpty()) << "another, whatever its number";
}

TEST_F(OccupantJudgeTest, APodWithoutASlotOfTheGpuIsAStranger) {
  const std::vector<Occupant> occupants = {Process(5, "other")};
  At(0, occupants);
  EXPECT_EQ(At(5, occupants).strangers.at("GPU-1").pod_uid, "other");
  Occupant elsewhere = Process(6, "ours");
  elsewhere.gpu_uuid = "GPU-2";
  At(6, {elsewhere});
  EXPECT_THAT(At(11, {elsewhere}).strangers, SizeIs(1)) << "it has a slot of another";
}

TEST_F(OccupantJudgeTest, AProcessWithASlotThatIsNotHeardOfIsUnhooked) {
  const std::vector<Occupant> occupants = {Process(7, "ours"), Process(8, "ours")};
  At(0, occupants);
  EXPECT_THAT(At(29, occupants).unhooked, IsEmpty());
  const auto verdicts = At(30, occupants);
  ASSERT_THAT(verdicts.unhooked, SizeIs(1));
  EXPECT_EQ(verdicts.unhooked[0].pid, 8);
  EXPECT_THAT(verdicts.strangers, IsEmpty());
  known_.clients.insert({8, "GPU-1"});
  EXPECT_THAT(At(31, occupants).unhooked, IsEmpty()) << "it has joined";
}

TEST_F(OccupantJudgeTest, TheServerOfMpsIsNoOccupantAndANameIsNoServer) {
  const std::vector<Occupant> occupants = {Process(5, std::nullopt, "nvidia-cuda-mps"),
                                           Process(6, "other", "nvidia-cuda-mps")};
  known_.mps_servers = {5};
  At(0, occupants);
  EXPECT_EQ(At(60, occupants).strangers.at("GPU-1").pid, 6);
  EXPECT_THAT(At(61, occupants).unheard, SizeIs(1)) << "the server is no occupant";
  known_.mps_servers.clear();
  EXPECT_EQ(At(62, {occupants[0]}).strangers.size(), 0u)
      << "nor a stranger as soon as it is not known to be one";
}

TEST_F(OccupantJudgeTest, ASignallerIsNoOccupant) {
  const std::vector<Occupant> occupants = {Process(5, "crossover's")};
  known_.own_pods = {"crossover's"};
  At(0, occupants);
  const auto verdicts = At(60, occupants);
  EXPECT_THAT(verdicts.strangers, IsEmpty());
  EXPECT_THAT(verdicts.unheard, IsEmpty());
  known_.own_pods.clear();
  At(61, occupants);
  EXPECT_THAT(At(66, occupants).strangers, SizeIs(1)) << "the control: the same process in another pod";
}

TEST_F(OccupantJudgeTest, AProcessThatIsNoClientIsUnheardFromTheFirstLook) {
  EXPECT_THAT(At(0, {Process(7, "ours")}).unheard, IsEmpty());
  EXPECT_THAT(At(1, {Process(7, "ours"), Process(8, "ours"), Process(9, std::nullopt)}).unheard, SizeIs(2));
}

TEST_F(OccupantJudgeTest, AProcessThatIsThereAtTheFirstLookMayHaveBeenForLong) {
  OccupantJudge judge;
  const std::vector<Occupant> there = {Process(5, std::nullopt), Process(8, "ours")};
  auto verdicts = judge.Judge(there, known_, 0);
  EXPECT_EQ(verdicts.strangers.at("GPU-1").pid, 5);
  EXPECT_THAT(verdicts.unhooked, IsEmpty()) << "a pod of ours may just have begun";
  verdicts = judge.Judge({there[1]}, known_, 10 * kSecond);
  EXPECT_THAT(verdicts.strangers, IsEmpty());
  EXPECT_THAT(verdicts.unhooked, IsEmpty());
  EXPECT_THAT(judge.Judge({there[1]}, known_, OccupantJudge::kUnheard).unhooked, SizeIs(1));
}

TEST_F(OccupantJudgeTest, AProcessThatComesAfterTheFirstLookMayOnlyLookAround) {
  OccupantJudge judge;
  judge.Judge({Process(8, "ours")}, known_, 0);
  const std::vector<Occupant> later = {Process(8, "ours"), Process(5, std::nullopt)};
  EXPECT_THAT(judge.Judge(later, known_, 2 * kSecond).strangers, IsEmpty());
  EXPECT_THAT(judge.Judge(later, known_, 6 * kSecond).strangers, IsEmpty());
  EXPECT_THAT(judge.Judge(later, known_, 7 * kSecond).strangers, SizeIs(1));
}

TEST(DescribeTest, TheSameFaultHasTheSameWords) {
  EXPECT_EQ(OccupantJudge::Describe(Process(5, std::nullopt, "python")),
            OccupantJudge::Describe(Process(6, std::nullopt, "bash")));
  EXPECT_EQ(OccupantJudge::Describe(Process(5, "other")),
            "used by a process of pod other, which has no slot of it");
}

}  // namespace
}  // namespace crossover::deviceplugin

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "deviceplugin/mps/health.h"

namespace crossover::deviceplugin {
namespace {

using Time = MpsHealth::Time;
constexpr Time kSecond = 1'000'000'000;

MpsLook Of(MpsStatus status, char state = 'S') {
  MpsLook look;
  look.servers.emplace();
  look.servers->push_back({.state = state, .status = status});
  return look;
}
MpsLook WithoutServer() { return {.servers = std::vector<MpsLook::Server>()}; }

class MpsHealthTest : public ::testing::Test {
 protected:
  // Shows `look` once a second for `seconds`, with a look at both ends.
  void Last(const MpsLook& look, Time seconds) {
    for (Time i = 0; i <= seconds; ++i, now_ += kSecond) {
      health_.OnLook(look, now_);
      asked_ += health_.wants_server() ? 1 : 0;
    }
  }

  MpsHealth health_;
  Time now_ = 7;
  int asked_ = 0;  // for a server
};

TEST_F(MpsHealthTest, AnActiveServerIsWell) {
  EXPECT_TRUE(health_.well()) << "nothing is known";
  for (const char state : {'S', 'R', 'D'}) {
    health_.OnLook(Of(MpsStatus::kActive, state), now_);
    EXPECT_EQ(health_.fault(), "");
  }
  Last(Of(MpsStatus::kActive), 100);
  EXPECT_TRUE(health_.well());
  EXPECT_EQ(asked_, 0);
}

TEST_F(MpsHealthTest, WordsThatAreNotKnownAreTakenForWell) {
  Last(Of(MpsStatus::kOther), 100);
  EXPECT_EQ(health_.fault(), "");
}

TEST_F(MpsHealthTest, AFaultCountsAtOnceAndEndsWithIt) {
  health_.OnLook(Of(MpsStatus::kFault), now_);
  EXPECT_EQ(
      health_.fault(),
      "MPS takes no new clients: its server is in FAULT, until the clients that the fault hit have ended");
  EXPECT_FALSE(health_.well());
  health_.OnLook(Of(MpsStatus::kActive), now_ + kSecond);
  EXPECT_EQ(health_.fault(), "");
  EXPECT_TRUE(health_.well());
}

TEST_F(MpsHealthTest, OneServerOfSeveralIsEnough) {
  MpsLook look = Of(MpsStatus::kActive);
  look.servers->push_back({.status = MpsStatus::kInitializing});
  look.servers->push_back({.status = MpsStatus::kFault});
  health_.OnLook(look, now_);
  EXPECT_THAT(health_.fault(), testing::HasSubstr("is in FAULT"));
}

TEST_F(MpsHealthTest, WhatLastsForAMomentDoesNotCount) {
  for (const MpsLook& look : {MpsLook(), WithoutServer(), Of(MpsStatus::kActive, 'T'),
                              Of(MpsStatus::kInitializing), Of(MpsStatus::kActive, 'D')}) {
    Last(look, 1);
    EXPECT_EQ(health_.fault(), "");
    Last(Of(MpsStatus::kActive), 0);
  }
}

TEST_F(MpsHealthTest, WhatLastsCounts) {
  MpsLook silent = Of(MpsStatus::kActive);
  silent.servers->front().status.reset();
  const std::vector<std::pair<MpsLook, const char*>> faults = {
      {MpsLook(), "its control daemon does not answer"},
      {silent, "its server does not answer"},
      {WithoutServer(), "its server cannot start"},
      {Of(MpsStatus::kActive, 'T'), "the process of its server is stopped"},
      {Of(MpsStatus::kActive, 't'), "the process of its server is stopped"},
      {Of(MpsStatus::kInitializing), "its server does not get beyond INITIALIZING"},
      {Of(MpsStatus::kActive, 'D'), "its server hangs in the driver"}};
  for (const auto& [look, words] : faults) {
    Last(look, MpsHealth::kInDriver / kSecond);
    EXPECT_EQ(health_.fault(), std::string("MPS takes no new clients: ") + words);
    Last(Of(MpsStatus::kActive), 0);
    EXPECT_EQ(health_.fault(), "") << words;
  }
}

TEST_F(MpsHealthTest, AServerThatStartsAgainAndAgainIsNotWell) {
  for (int i = 0; i < 6; ++i) {
    Last(WithoutServer(), 0);
    Last(Of(MpsStatus::kInitializing), 0);
  }
  EXPECT_NE(health_.fault(), "");
}

TEST_F(MpsHealthTest, AServerIsAskedForAtTheSecondLookAndMoreAndMoreSeldom) {
  Last(WithoutServer(), 0);
  EXPECT_EQ(asked_, 0);
  Last(WithoutServer(), 0);
  EXPECT_EQ(asked_, 1);
  Last(WithoutServer(), 300);
  EXPECT_GE(asked_, 5);
  EXPECT_LE(asked_, 10);
  Last(Of(MpsStatus::kActive), 0);
  EXPECT_FALSE(health_.wants_server());
  Last(WithoutServer(), 1);
  EXPECT_TRUE(health_.wants_server()) << "soon again, as all was well between";
}

TEST_F(MpsHealthTest, AnotherControlDaemonBeginsAnew) {
  Last(Of(MpsStatus::kFault), 0);
  health_.Forget();
  EXPECT_EQ(health_.fault(), "");
  EXPECT_TRUE(health_.well());
}

TEST(MpsStatusTest, ReadsWords) {
  EXPECT_EQ(ReadMpsStatus("ACTIVE\n"), MpsStatus::kActive);
  EXPECT_EQ(ReadMpsStatus("Server status: active"), MpsStatus::kActive);
  EXPECT_EQ(ReadMpsStatus("INITIALIZING"), MpsStatus::kInitializing);
  EXPECT_EQ(ReadMpsStatus("server 12 FAULT.\n"), MpsStatus::kFault);
  for (const char* other : {"", "\n", "INACTIVE", "FAULTY", "Failed to find server\n", "12"})
    EXPECT_EQ(ReadMpsStatus(other), MpsStatus::kOther) << other;
}

}  // namespace
}  // namespace crossover::deviceplugin

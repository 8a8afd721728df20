#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "deviceplugin/mps/health.h"

namespace crossover::deviceplugin {
namespace {

using Time = MpsHealth::Time;
constexpr Time kSecond = 1'000'000'000;

MpsLook Of(MpsStatus status, char state = 'S') {
  return {.list = MpsLook::List::kGiven, .servers = {{.state = state, .status = status}}};
}
MpsLook WithoutServer() { return {.list = MpsLook::List::kGiven}; }
MpsLook Silent() {
  MpsLook look = Of(MpsStatus::kActive);
  look.servers.front().status.reset();
  return look;
}

class MpsHealthTest : public ::testing::Test {
 protected:
  // Shows `look` once a second for `seconds`, with a look at both ends.
  void Last(const MpsLook& look, Time seconds) {
    for (Time i = 0; i <= seconds; ++i, now_ += kSecond) {
      health_.OnLook(look, now_);
      if (!health_.wants_server()) continue;
      ++asked_;
      health_.OnServerAsked(taken_, now_);
    }
  }

  MpsHealth health_;
  Time now_ = 7;
  int asked_ = 0;      // for a server
  bool taken_ = true;  // the control daemon takes the order
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
  look.servers.push_back({.status = MpsStatus::kInitializing});
  look.servers.push_back({.status = MpsStatus::kFault});
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

TEST_F(MpsHealthTest, WhatLastsCountsFromItsOwnTimeOn) {
  struct Case {
    MpsLook look;
    Time patience;
    const char* words;
  };
  const std::vector<Case> cases = {
      {MpsLook(), 3, "its control daemon does not answer"},
      {Silent(), 3, "its server does not answer"},
      {Of(MpsStatus::kActive, 'T'), 2, "the process of its server is stopped"},
      {Of(MpsStatus::kActive, 't'), 2, "the process of its server is stopped"},
      {Of(MpsStatus::kInitializing), 30, "its server does not get beyond INITIALIZING"},
      {Of(MpsStatus::kActive, 'D'), 30, "its server hangs in the driver"}};
  for (const Case& each : cases) {
    Last(each.look, each.patience - 1);
    EXPECT_EQ(health_.fault(), "") << each.words;
    EXPECT_FALSE(health_.well());
    Last(each.look, 0);
    EXPECT_EQ(health_.fault(), std::string("MPS takes no new clients: ") + each.words);
    Last(Of(MpsStatus::kActive), 0);
    EXPECT_EQ(health_.fault(), "") << each.words;
  }
}

TEST_F(MpsHealthTest, OneSymptomDoesNotLendAnotherItsTime) {
  Last(Of(MpsStatus::kInitializing), 9);
  Last(Silent(), 2);
  EXPECT_EQ(health_.fault(), "") << "it is silent for two seconds, and was INITIALIZING for nine";
  Last(Silent(), 0);
  EXPECT_THAT(health_.fault(), testing::HasSubstr("its server does not answer"));
}

TEST_F(MpsHealthTest, AFaultStaysUntilAllIsWell) {
  Last(Of(MpsStatus::kFault), 0);
  Last(WithoutServer(), 1);
  EXPECT_THAT(health_.fault(), testing::HasSubstr("is in FAULT"));
}

TEST_F(MpsHealthTest, ThatThereIsNoServerCountsFromAnOrderThatWasTaken) {
  Last(WithoutServer(), 9);
  EXPECT_EQ(asked_, 2);
  EXPECT_EQ(health_.fault(), "");
  EXPECT_FALSE(health_.known());
  Last(WithoutServer(), 0);
  EXPECT_EQ(health_.fault(), "MPS takes no new clients: its server cannot start");
  EXPECT_TRUE(health_.known());
}

TEST_F(MpsHealthTest, WhereNoServerCanBeAskedForNothingIsJudged) {
  taken_ = false;
  Last(WithoutServer(), 300);
  EXPECT_EQ(health_.fault(), "");
  EXPECT_TRUE(health_.known()) << "it cannot be found out";
}

TEST_F(MpsHealthTest, WhereTheListIsNoneTheLastJudgementStays) {
  const MpsLook unknown{.list = MpsLook::List::kUnknown};
  EXPECT_FALSE(health_.known());
  Last(unknown, 100);
  EXPECT_TRUE(health_.known());
  EXPECT_TRUE(health_.well());
  EXPECT_EQ(health_.fault(), "");
  Last(Of(MpsStatus::kFault), 0);
  Last(unknown, 1);
  EXPECT_NE(health_.fault(), "");
}

TEST_F(MpsHealthTest, ItIsNotKnownWhileASymptomDoesNotCountYet) {
  Last(Silent(), 0);
  EXPECT_FALSE(health_.known());
  Last(Of(MpsStatus::kActive), 0);
  EXPECT_TRUE(health_.known());
  Last(Silent(), 0);
  EXPECT_TRUE(health_.known()) << "it was well before";
}

TEST_F(MpsHealthTest, AServerThatStartsAgainAndAgainIsNotWell) {
  for (int i = 0; i < 15; ++i) {
    EXPECT_EQ(health_.fault(), "") << i;
    Last(WithoutServer(), 0);
    Last(Of(MpsStatus::kInitializing), 0);
  }
  Last(WithoutServer(), 1);
  EXPECT_EQ(health_.fault(),
            "MPS takes no new clients: its control daemon or its servers were unwell at each look for 30 s");
}

TEST_F(MpsHealthTest, AnIdleControlDaemonThatIsNotAskedIsNoServerThatEndsAgainAndAgain) {
  for (int i = 0; i < 300; ++i, now_ += kSecond) health_.OnLook(WithoutServer(), now_);
  Last(Of(MpsStatus::kInitializing), 0);
  EXPECT_EQ(health_.fault(), "");
}

TEST_F(MpsHealthTest, AServerIsAskedForAtOnceWhileNothingIsKnownAndMoreAndMoreSeldom) {
  Last(WithoutServer(), 0);
  EXPECT_EQ(asked_, 1) << "slots wait for it";
  Last(Of(MpsStatus::kActive), 0);
  Last(WithoutServer(), 0);
  EXPECT_EQ(asked_, 1) << "a client may have come since, for which one starts";
  Last(WithoutServer(), 0);
  EXPECT_EQ(asked_, 2);
  Last(WithoutServer(), 300);
  EXPECT_GE(asked_, 6);
  EXPECT_LE(asked_, 11);
  Last(Of(MpsStatus::kActive), 0);
  EXPECT_FALSE(health_.wants_server());
  const int before = asked_;
  Last(WithoutServer(), 1);
  EXPECT_EQ(asked_, before + 1) << "soon again, as all was well between";
}

TEST_F(MpsHealthTest, AnotherControlDaemonBeginsAnew) {
  Last(Of(MpsStatus::kFault), 0);
  health_.Forget();
  EXPECT_EQ(health_.fault(), "");
  EXPECT_TRUE(health_.well());
  EXPECT_FALSE(health_.known());
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

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "deviceplugin/mps/losses.h"

namespace crossover::deviceplugin {
namespace {

using Server = MpsControl::Server;

TEST(MpsLossesTest, AServerInWhosePlaceIsAnotherOfItsUserIsLost) {
  MpsLosses losses;
  EXPECT_EQ(losses.OnList({{.pid = 7, .uid = 0}}), std::nullopt);
  EXPECT_EQ(losses.OnList({{.pid = 7, .uid = 0}}), std::nullopt);
  EXPECT_EQ(losses.OnList({{.pid = 8, .uid = 0}}), std::optional<pid_t>(7));
  EXPECT_EQ(losses.OnList({{.pid = 8, .uid = 0}}), std::nullopt) << "each is lost once";
}

TEST(MpsLossesTest, AServerThatMakesRoomForAnotherUsersIsNotLost) {
  MpsLosses losses;
  losses.OnList({{.pid = 7, .uid = 0}});
  EXPECT_EQ(losses.OnList({{.pid = 8, .uid = 1000}}), std::nullopt);
  EXPECT_EQ(losses.OnList({}), std::nullopt) << "the next one has yet to start";
  EXPECT_EQ(losses.OnList({{.pid = 9, .uid = 0}}), std::nullopt);
}

TEST(MpsLossesTest, TheSecondEmptyListInARowDecides) {
  MpsLosses losses;
  EXPECT_EQ(losses.OnList({}), std::nullopt);
  EXPECT_EQ(losses.OnList({}), std::nullopt) << "none was there";
  losses.OnList({{.pid = 7, .uid = 0}});
  EXPECT_EQ(losses.OnList({}), std::nullopt);
  EXPECT_EQ(losses.OnList({}), std::optional<pid_t>(7));
  EXPECT_EQ(losses.OnList({}), std::nullopt);
  EXPECT_EQ(losses.OnList({{.pid = 8, .uid = 0}}), std::nullopt);
}

TEST(MpsLossesTest, AfterOneEmptyListTheSameUsersServerTellsToo) {
  MpsLosses losses;
  losses.OnList({{.pid = 7, .uid = 0}});
  EXPECT_EQ(losses.OnList({}), std::nullopt);
  EXPECT_EQ(losses.OnList({{.pid = 8, .uid = 0}}), std::optional<pid_t>(7));
}

TEST(MpsLossesTest, OneOfSeveralIsLost) {
  MpsLosses losses;
  losses.OnList({{.pid = 7, .uid = 0}, {.pid = 8, .uid = 1000}});
  EXPECT_EQ(losses.OnList({{.pid = 7, .uid = 0}, {.pid = 9, .uid = 1000}}), std::optional<pid_t>(8));
}

TEST(MpsLossesTest, AnotherControlDaemonHasOtherServers) {
  MpsLosses losses;
  losses.OnList({{.pid = 7, .uid = 0}});
  losses.Forget();
  EXPECT_EQ(losses.OnList({{.pid = 8, .uid = 0}}), std::nullopt);
}

}  // namespace
}  // namespace crossover::deviceplugin

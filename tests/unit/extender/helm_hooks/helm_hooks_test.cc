// Tests which pods are said to hold slots, with a stand-in for the API server.
#include "extender/helm_hooks/helm_hooks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/common/kube/server.h"

namespace crossover::extender {
namespace {

using testing::HasSubstr;

// Returns a page of pods. Each holds one slot.
std::string ListOf(const std::vector<std::string>& names, const std::string& next = "") {
  std::string pods;
  for (const std::string& name : names) {
    pods += (pods.empty() ? "" : ", ") +
            (R"({"metadata": {"namespace": "team", "uid": "u", "name": ")" + name +
             R"("}, "spec": {"nodeName": "n1", "containers": [{"name": "main", "resources": {
                  "limits": {"crossover.dev/slot": "1"}}}]}, "status": {"phase": "Running"}})");
  }
  return R"({"metadata": {"continue": ")" + next + R"("}, "items": [)" + pods + "]}";
}

class ListHoldersTest : public ::testing::Test {
 protected:
  void Answer(const std::string& to, int status, const std::string& body) {
    server_.Answer({.status = status, .body = body, .to = to});
  }

  int List() {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = ListHolders({.server = server_.url(), .ca_file = "", .token_file = ""});
    complaint_ = ::testing::internal::GetCapturedStderr();
    said_ = ::testing::internal::GetCapturedStdout();
    return code;
  }

  kube::Server server_;
  std::string said_, complaint_;
};

// The server keeps what has ended, or is bound to no node, to itself.
constexpr char kAsked[] =
    "GET "
    "/api/v1/pods?fieldSelector=spec.nodeName%21%3D%2Cstatus.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
    "&limit=40";

TEST_F(ListHoldersTest, NamesPodsThatHoldSlots) {
  Answer(kAsked, 200, ListOf({"a", "b"}));
  EXPECT_EQ(List(), 1);
  EXPECT_EQ(said_, "pods that hold slots (2):\n  team/a on n1: 1 slot\n  team/b on n1: 1 slot\n");
  EXPECT_EQ(complaint_, "");
}

TEST_F(ListHoldersTest, ThereMayBePages) {
  Answer(kAsked + std::string(" "), 200, ListOf({"first"}, "token"));
  Answer(kAsked + std::string("&continue=token "), 200, ListOf({"second"}));
  EXPECT_EQ(List(), 1);
  EXPECT_EQ(said_, "pods that hold slots (2):\n  team/first on n1: 1 slot\n  team/second on n1: 1 slot\n");
}

TEST_F(ListHoldersTest, AFewDozenAreEnough) {
  std::vector<std::string> pods;
  for (int i = 0; i < 60; ++i) pods.push_back("p" + std::to_string(10 + i));
  Answer(kAsked, 200, ListOf(pods));
  EXPECT_EQ(List(), 1);
  EXPECT_THAT(said_, HasSubstr("pods that hold slots (50 of 60):\n"));
  EXPECT_THAT(said_, testing::EndsWith("  team/p59 on n1: 1 slot\n"));
}

TEST_F(ListHoldersTest, WithoutPodsNoneHoldsSlots) {
  Answer(kAsked, 200, ListOf({}));
  EXPECT_EQ(List(), 0);
  EXPECT_EQ(said_, "no pod holds a slot\n");
}

TEST_F(ListHoldersTest, AnAnswerThatIsNoListIsAnError) {
  Answer(kAsked, 403, "not for you");
  EXPECT_EQ(List(), 2);
  EXPECT_THAT(complaint_, HasSubstr("status 403: not for you"));
  Answer(kAsked, 200, "no JSON");
  EXPECT_EQ(List(), 2);
  EXPECT_EQ(said_, "");
}

TEST_F(ListHoldersTest, AnErrorInALaterPageIsOneOfTheWhole) {
  Answer(kAsked + std::string(" "), 200, ListOf({}, "token"));
  Answer(kAsked + std::string("&continue=token "), 500, "broken");
  EXPECT_EQ(List(), 2);
}

}  // namespace
}  // namespace crossover::extender

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

// Returns a page of GPUNodes: one node with one GPU, of which each of `pods` holds one slot.
std::string ListOf(const std::vector<std::string>& pods, const std::string& node = "n1",
                   const std::string& next = "") {
  std::string holders;
  for (const std::string& pod : pods) {
    const std::string slot = "GPU-1::" + std::to_string(&pod - pods.data());
    holders += (holders.empty() ? "" : ", ") +
               (R"({"namespace": "team", "pod": ")" + pod + R"(", "slots": [")" + slot + R"("]})");
  }
  return R"({"metadata": {"continue": ")" + next + R"("}, "items": [{"metadata": {"name": ")" + node +
         R"("}, "status": {"gpus": [{"uuid": "GPU-1", "holders": [)" + holders + "]}]}}]}";
}

std::string PodOf(const std::string& name, const std::string& phase) {
  return R"({"metadata": {"namespace": "team", "uid": "u", "name": ")" + name +
         R"("}, "spec": {"nodeName": "n1", "containers": [{"name": "main", "resources": {
               "limits": {"crossover.dev/slot": "1"}}}]}, "status": {"phase": ")" +
         phase + R"("}})";
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

TEST_F(ListHoldersTest, NamesPodsThatAreThere) {
  Answer("/gpunodes", 200, ListOf({"a", "b"}));
  Answer("/namespaces/team/pods/a ", 200, PodOf("a", "Running"));
  Answer("/namespaces/team/pods/b ", 404, "no such pod");
  EXPECT_EQ(List(), 1);
  EXPECT_EQ(said_, "pods that hold slots (1):\n  team/a on n1: 1 slot\n");
  EXPECT_EQ(complaint_, "");
}

TEST_F(ListHoldersTest, ThereMayBePages) {
  Answer("/gpunodes?limit=40 ", 200, ListOf({"of-n0"}, "n0", "token"));
  Answer("/gpunodes?limit=40&continue=token ", 200, ListOf({"of-n1"}));
  Answer("/pods/of-n0 ", 404, "no such pod");
  Answer("/pods/of-n1 ", 200, PodOf("of-n1", "Running"));
  EXPECT_EQ(List(), 1);
  EXPECT_EQ(said_, "pods that hold slots (1):\n  team/of-n1 on n1: 1 slot\n");
}

TEST_F(ListHoldersTest, AFewDozenAreEnough) {
  std::vector<std::string> pods;
  for (int i = 0; i < 60; ++i) {
    const std::string& name = pods.emplace_back("p" + std::to_string(10 + i));
    if (i < 50) Answer("/pods/" + name + " ", 200, PodOf(name, "Running"));
  }
  Answer("/gpunodes", 200, ListOf(pods));
  EXPECT_EQ(List(), 1);
  EXPECT_THAT(said_, HasSubstr("pods that hold slots (50 of up to 60):\n"));
  EXPECT_THAT(said_, testing::EndsWith("  team/p59 on n1: 1 slot\n"));
}

TEST_F(ListHoldersTest, NoPodHoldsOneWhereAllAreGoneOrOver) {
  Answer("/gpunodes", 200, ListOf({"a", "b"}));
  Answer("/pods/a ", 200, PodOf("a", "Succeeded"));
  Answer("/pods/b ", 404, "no such pod");
  EXPECT_EQ(List(), 0);
  EXPECT_EQ(said_, "no pod holds a slot\n");
}

TEST_F(ListHoldersTest, OneThatCannotBeLookedAtCounts) {
  Answer("/gpunodes", 200, ListOf({"a", "b"}));
  Answer("/pods/a ", 403, "not for you");
  Answer("/pods/b ", 200, "no JSON");
  EXPECT_EQ(List(), 1);
  EXPECT_THAT(said_, HasSubstr("slots (2)"));
  EXPECT_THAT(complaint_, HasSubstr("/pods/a: status 403: not for you"));
}

TEST_F(ListHoldersTest, WithoutGpuNodesNoPodIsLookedFor) {
  Answer("/gpunodes", 404, "no such kind");
  EXPECT_EQ(List(), 0);
  Answer("/gpunodes", 403, "not for you");
  EXPECT_EQ(List(), 2);
  EXPECT_THAT(complaint_, HasSubstr("status 403: not for you"));
  EXPECT_EQ(server_.requests(), 2u);
}

}  // namespace
}  // namespace crossover::extender

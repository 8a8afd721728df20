#include "deviceplugin/reconcile/evictor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/common/kube/server.h"

namespace crossover::deviceplugin {
namespace {

using testing::HasSubstr;

class EvictorTest : public ::testing::Test {
 protected:
  EvictorTest() {
    pod_.uid = "u";
    pod_.name_space = "team";
    pod_.name = "p";
  }
  kube::Server server_;
  Evictor evictor_{{.server = server_.url(), .ca_file = "", .token_file = ""}};
  Pod pod_;
};

TEST_F(EvictorTest, ThatPodAndNoOtherOfItsName) {
  server_.Answer(201, "{}");
  evictor_.Evict(pod_);
  const std::string request = server_.AwaitRequest(0);
  EXPECT_THAT(request, HasSubstr("POST /api/v1/namespaces/team/pods/p/eviction HTTP"));
  EXPECT_THAT(request, HasSubstr(R"("preconditions":{"uid":"u"})"));
}

TEST_F(EvictorTest, CountsWhatWasAcceptedApartFromWhatWasNot) {
  for (const int status : {201, 200, 429, 403}) {
    server_.Answer(status, "{}");
    EXPECT_EQ(evictor_.Evict(pod_), status < 300) << status;
  }
  EXPECT_EQ(evictor_.accepted(), 2u);
  EXPECT_EQ(evictor_.refused(), 2u);
}

TEST_F(EvictorTest, OneThatIsNotAnsweredIsEndedAndCountsAsRefused) {
  std::thread caller([this] { evictor_.Evict(pod_); });
  server_.AwaitRequest(0);
  const auto begin = std::chrono::steady_clock::now();
  evictor_.Stop();
  caller.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10))
      << "by itself it ends after 30";
  EXPECT_EQ(evictor_.accepted(), 0u);
  EXPECT_EQ(evictor_.refused(), 1u);
}

}  // namespace
}  // namespace crossover::deviceplugin

#include "common/kube/metrics_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/unit/common/kube/server.h"

namespace crossover::kube {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr char kKnown[] =
    R"({"status":{"authenticated":true,"user":{"username":"prometheus","groups":["g"]}}})";
constexpr char kUnknown[] = R"({"status":{"authenticated":false}})";
constexpr char kMay[] = R"({"status":{"allowed":true}})";
constexpr char kMayNot[] = R"({"status":{"allowed":false}})";

class MetricsAccessTest : public ::testing::Test {
 protected:
  void Says(const char* who, const char* may) {
    server_.Answer(201, who);
    if (may != nullptr) server_.Answer(201, may);
  }
  static json BodyOf(const std::string& request) {
    return json::parse(request.substr(request.find("\r\n\r\n") + 4));
  }

  Server server_;
  std::chrono::steady_clock::time_point now_{std::chrono::hours(1)};
  MetricsAccess access_{{.server = server_.url(), .ca_file = "", .token_file = ""}, [this] { return now_; }};
};

TEST_F(MetricsAccessTest, WhatTheApiServerIsAsked) {
  Says(kKnown, kMay);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  const std::string who = server_.AwaitRequest(0), may = server_.AwaitRequest(1);
  EXPECT_THAT(who, HasSubstr("POST /apis/authentication.k8s.io/v1/tokenreviews "));
  EXPECT_EQ(BodyOf(who)["spec"]["token"], "abc");
  EXPECT_THAT(may, HasSubstr("POST /apis/authorization.k8s.io/v1/subjectaccessreviews "));
  EXPECT_EQ(BodyOf(may)["spec"], json::parse(R"({"user": "prometheus", "groups": ["g"],
                                "nonResourceAttributes": {"path": "/metrics", "verb": "get"}})"));
}

TEST_F(MetricsAccessTest, TheServerIsNotAskedAboutARequestWithoutAToken) {
  EXPECT_EQ(access_.StatusFor(""), 401);
  EXPECT_EQ(access_.StatusFor("Basic YTpi"), 401);
  EXPECT_EQ(server_.requests(), 0U);
}

TEST_F(MetricsAccessTest, TheServerIsNotAskedAboutWhatIsNoToken) {
  for (const char* bytes : {"", "\xff", "a b", "a\x01", "abc\x7f", "t\xc3\xb6ken"}) {
    EXPECT_EQ(access_.StatusFor(std::string("Bearer ") + bytes), 401) << bytes;
  }
  EXPECT_EQ(server_.requests(), 0U);
}

TEST_F(MetricsAccessTest, ATokenWithoutAUser) {
  Says(kUnknown, nullptr);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 401);
}

TEST_F(MetricsAccessTest, OneWhoMayNot) {
  Says(kKnown, kMayNot);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 403);
}

TEST_F(MetricsAccessTest, WhoMayIsAskedAboutEveryTwoMinutes) {
  Says(kKnown, kMay);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  now_ += std::chrono::seconds(119);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  EXPECT_EQ(server_.requests(), 2U);
  now_ += std::chrono::seconds(1);
  Says(kKnown, kMayNot);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 403);
  EXPECT_EQ(server_.requests(), 4U);
}

TEST_F(MetricsAccessTest, WhoMayNotIsAskedAboutEveryTenSeconds) {
  Says(kKnown, kMayNot);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 403);
  now_ += std::chrono::seconds(9);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 403);
  EXPECT_EQ(server_.requests(), 2U);
  now_ += std::chrono::seconds(1);
  Says(kKnown, kMay);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  EXPECT_EQ(server_.requests(), 4U);
}

TEST_F(MetricsAccessTest, WhoMayStaysOneForAnHourWhileTheServerCannotSay) {
  Says(kKnown, kMay);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  now_ += std::chrono::minutes(59);
  server_.Answer(500, "{}");
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  server_.Answer(500, "{}");
  EXPECT_EQ(access_.StatusFor("Bearer other"), 503);
  now_ += std::chrono::minutes(1);
  server_.Answer(500, "{}");
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 503);
}

TEST_F(MetricsAccessTest, OnceRefusedTheHourIsOver) {
  Says(kKnown, kMay);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  now_ += std::chrono::minutes(2);
  Says(kKnown, kMayNot);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 403);
  now_ += std::chrono::seconds(10);
  server_.Answer(500, "{}");
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 503);
}

TEST_F(MetricsAccessTest, TokensThatAreMadeUpDriveOutNone) {
  Says(kKnown, kMay);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  for (int i = 0; i < 200; ++i) {
    Says(kUnknown, nullptr);
    EXPECT_EQ(access_.StatusFor("Bearer made-up-" + std::to_string(i)), 401);
  }
  const std::size_t asked = server_.requests();
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  EXPECT_EQ(server_.requests(), asked);
}

// A server of metrics has a few threads. Two of them may wait for the API server; all other requests are
// answered at once.
TEST_F(MetricsAccessTest, WhileTheApiServerIsSilentOnlyTwoWait) {
  Says(kKnown, kMay);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  now_ += std::chrono::minutes(2);
  std::vector<std::thread> waiting;
  for (const char* token : {"Bearer one", "Bearer two"})
    waiting.emplace_back([this, token] { EXPECT_EQ(access_.StatusFor(token), 503); });
  server_.AwaitRequest(3);
  EXPECT_EQ(access_.StatusFor("Bearer three"), 503);
  EXPECT_EQ(access_.StatusFor("Bearer abc"), 200);
  access_.Stop();
  for (std::thread& thread : waiting) thread.join();
}

}  // namespace
}  // namespace crossover::kube

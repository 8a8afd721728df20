#include "common/kube/client.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/unit/common/kube/server.h"

namespace crossover::kube {
namespace {

class ClientTest : public ::testing::Test {
 protected:
  Server server_;
  Client client_{{.server = server_.url(), .ca_file = "", .token_file = ""}};
};

TEST_F(ClientTest, WhatTheServerAnswers) {
  server_.Answer(404, "nothing");
  const Response response = client_.Get("/x");
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, "nothing");
}

// By itself a request ends after 30 s.
constexpr std::chrono::seconds kSoon{10};

// That a request is really under way shows in that the server has it.
TEST_F(ClientTest, RequestsThatAreNotAnsweredAreEndedByStop) {
  Response got, sent;
  std::thread get([&] { got = client_.Get("/x"); });
  server_.AwaitRequest(0);
  std::thread send([&] { sent = client_.Send({.method = "POST", .path = "/y", .body = "{}"}); });
  const auto begin = std::chrono::steady_clock::now();
  client_.Stop();
  get.join();
  send.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kSoon);
  EXPECT_EQ(got.status, 0);
  EXPECT_EQ(sent.status, 0);
  EXPECT_NE(got.error, "");
}

TEST_F(ClientTest, AfterStopNothingIsAsked) {
  client_.Stop();
  server_.Answer(200, "late");
  EXPECT_EQ(client_.Get("/x").status, 0);
}

}  // namespace
}  // namespace crossover::kube

#include "common/kube/client.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
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

TEST(WhyNotTest, TheBodyIsCutBetweenCharacters) {
  const std::string room(299, 'x');
  EXPECT_EQ(WhyNot({.status = 500, .body = room + "\u00e9", .error = {}}), "status 500: " + room);
}

// A request ends by itself after 30 s.
constexpr std::chrono::seconds kSoon{10};

// The server has received the first request, so that request is really under way.
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

TEST_F(ClientTest, OneRequestAfterAnotherTakesOneConnection) {
  constexpr int kRequests = 20;
  for (int i = 0; i < kRequests; ++i) {
    server_.Answer({.status = 201, .body = "{}", .keep = true});
    EXPECT_EQ(client_.Send({.method = "POST", .path = "/b", .body = "{}"}).status, 201);
  }
  EXPECT_EQ(server_.requests(), static_cast<std::size_t>(kRequests));
  EXPECT_EQ(server_.connections(), 1u);
}

TEST_F(ClientTest, AServerThatEndsConnectionsIsAskedOnNewOnes) {
  for (int i = 0; i < 3; ++i) {
    server_.Answer(200, "x");
    EXPECT_EQ(client_.Get("/x").body, "x");
  }
  EXPECT_EQ(server_.connections(), 3u);
}

// Four threads send requests. A request that is done leaves its connection to the next one.
TEST_F(ClientTest, RequestsSideBySideTakeAConnectionEach) {
  constexpr int kThreads = 4, kEach = 25;
  for (int i = 0; i < kThreads * kEach; ++i) server_.Answer({.status = 200, .body = "x", .keep = true});
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < kEach; ++j) EXPECT_EQ(client_.Get("/x").status, 200);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(server_.requests(), static_cast<std::size_t>(kThreads * kEach));
  EXPECT_LE(server_.connections(), static_cast<std::size_t>(kThreads));
}

// These bytes are the letter x ten thousand times, as gzip has it.
constexpr char kZipped[] =
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xed\xc1\x01\x0d\x00\x00\x00\xc2\xa0\xda\x8f\x6f\x0e\x37"
    "\xa0\x00\x00\x00\x00\x00\x00\x00\x00\x00\xe0\xdf\x00\xa3\xa4\x55\x0d\x10\x27\x00\x00";

TEST_F(ClientTest, TakesAnswersThatAreCompressed) {
  const std::string text(10'000, 'x');
  server_.Answer({.status = 200,
                  .body = std::string(kZipped, sizeof kZipped - 1),
                  .headers = "Content-Encoding: gzip\r\n"});
  EXPECT_EQ(client_.Get("/x").body, text);
  EXPECT_NE(server_.AwaitRequest(0).find("Accept-Encoding: gzip"), std::string::npos);
}

TEST_F(ClientTest, SaysForHowLongAServerWantsToBeLeftAlone) {
  server_.Answer({.status = 429, .body = "", .headers = "Retry-After: 7\r\n"});
  EXPECT_EQ(client_.Get("/x").retry_after, std::chrono::seconds(7));
  server_.Answer({.status = 429, .body = "", .headers = "Retry-After: 99999999\r\n"});
  EXPECT_EQ(client_.Get("/x").retry_after, kLongestRetryAfter);
  server_.Answer(429, "");
  EXPECT_EQ(client_.Get("/x").retry_after, std::chrono::seconds(0));
}

TEST_F(ClientTest, TellsWhenAWatchStands) {
  std::vector<std::string> seen;
  const Client::OnLine on_line = [&](std::string_view line) {
    seen.emplace_back(line);
    return true;
  };
  const Client::OnOpen on_open = [&] { seen.emplace_back("open"); };
  server_.Answer(200, "a\nb\n");
  EXPECT_EQ(client_.Watch("/w", on_line, Client::kJson, on_open).status, 200);
  EXPECT_EQ(seen, (std::vector<std::string>{"open", "a", "b"}));
  seen.clear();
  server_.Answer(403, "a\n");
  EXPECT_EQ(client_.Watch("/w", on_line, Client::kJson, on_open).body, "a\n");
  EXPECT_TRUE(seen.empty());
}

class TokenTest : public ClientTest {
 protected:
  TokenTest() { Write("old"); }
  ~TokenTest() override { std::filesystem::remove(file_); }
  void Write(const std::string& token) { std::ofstream(file_) << token << "\n"; }
  static bool Has(const std::string& request, const std::string& token) {
    return request.find("Authorization: Bearer " + token + "\r\n") != std::string::npos;
  }

  const std::string file_ = testing::TempDir() + "kube_token_" + std::to_string(getpid());
  Client known_{{.server = server_.url(), .ca_file = "", .token_file = file_}};
};

TEST_F(TokenTest, IsReadAnewWithEachRequest) {
  server_.Answer({.status = 200, .body = "", .keep = true});
  known_.Get("/x");
  Write("new");
  server_.Answer({.status = 200, .body = "", .keep = true});
  known_.Get("/x");
  EXPECT_TRUE(Has(server_.AwaitRequest(0), "old"));
  EXPECT_TRUE(Has(server_.AwaitRequest(1), "new"));
  EXPECT_EQ(server_.connections(), 1u);
}

// The token's file was rewritten while the request was on its way.
TEST_F(TokenTest, WhoIsNotKnownAsksOnceMoreWithWhatItSaysNow) {
  Server::Reply refused{.status = 401, .body = "", .keep = true};
  refused.first = [this] { Write("new"); };
  server_.Answer(refused);
  server_.Answer({.status = 201, .body = "{}", .keep = true});
  EXPECT_EQ(known_.Send({.method = "POST", .path = "/y", .body = "{1}"}).status, 201);
  EXPECT_TRUE(Has(server_.AwaitRequest(0), "old"));
  EXPECT_TRUE(Has(server_.AwaitRequest(1), "new"));
  EXPECT_NE(server_.AwaitRequest(1).find("{1}"), std::string::npos);
  server_.Answer({.status = 401, .body = "", .keep = true});
  server_.Answer({.status = 401, .body = "", .keep = true});
  EXPECT_EQ(known_.Get("/x").status, 401) << "once";
  EXPECT_EQ(server_.requests(), 4u);
}

}  // namespace
}  // namespace crossover::kube

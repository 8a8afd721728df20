#include "common/kube/events.h"

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

Event About(const std::string& pod, const std::string& note = "something") {
  return {.regarding = {"Pod", "team", pod, "u"}, .reason = "Reason", .action = "Act", .note = note};
}

class EventsTest : public ::testing::Test {
 protected:
  std::unique_ptr<Events> Start() {
    return std::make_unique<Events>(Access{.server = server_.url(), .ca_file = "", .token_file = ""},
                                    "crossover.dev/test", "node-1");
  }
  // Waits until `count` events were given up.
  static void AwaitLost(const Events& events, std::uint64_t count) {
    while (events.lost() < count) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  // Tells an event whose request is answered with this status, and waits until the event is lost.
  void IsLostAt(int status) {
    server_.Answer(status, "{}");
    const auto events = Start();
    events->Tell(About("p"));
    AwaitLost(*events, 1);
  }

  Server server_;
};

TEST_F(EventsTest, WhatTheApiServerIsSent) {
  server_.Answer(201, "{}");
  const auto events = Start();
  events->Tell(About("p"));
  const std::string request = server_.AwaitRequest(0);
  EXPECT_THAT(request, HasSubstr("POST /apis/events.k8s.io/v1/namespaces/team/events HTTP/1.1"));
  EXPECT_THAT(request, HasSubstr("Content-Type: application/json"));
  const json body = json::parse(request.substr(request.find("\r\n\r\n") + 4));
  EXPECT_EQ(body["regarding"]["name"], "p");
  EXPECT_EQ(body["reportingInstance"], "node-1");
  EXPECT_EQ(body["type"], "Warning");
}

TEST_F(EventsTest, ABusyServerIsLeftAlone) {
  server_.Answer({.status = 429, .body = "{}", .headers = "Retry-After: 2\r\n"});
  server_.Answer(201, "{}");
  const auto events = Start();
  events->Tell(About("p"));
  server_.AwaitRequest(0);
  const auto begin = std::chrono::steady_clock::now();
  server_.AwaitRequest(1);
  EXPECT_GT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1500))
      << "by itself it waits 1 s";
}

TEST_F(EventsTest, TheTimeHasSixDigitsAndAnObjectOfTheClusterIsOfNamespaceDefault) {
  const json body = json::parse(
      BodyOf({.regarding = {"Node", "", "n", ""}, .warning = false, .reason = "R", .action = "A", .note = ""},
             "us", "here", "n.1", 1'700'000'000, 42));
  EXPECT_EQ(body["eventTime"], "2023-11-14T22:13:20.000042Z");
  EXPECT_EQ(body["metadata"]["namespace"], "default");
  EXPECT_EQ(body["type"], "Normal");
  EXPECT_FALSE(body["regarding"].contains("namespace"));
}

TEST_F(EventsTest, ALongNoteIsCutAndBytesThatAreNoTextAreReplaced) {
  const json body = json::parse(BodyOf(About("p", std::string(3000, 'x')), "us", "here", "p.1", 0, 0));
  EXPECT_EQ(body["note"].get<std::string>().size(), 1024u);
  EXPECT_TRUE(json::accept(BodyOf(About("p", "\xff"), "us", "here", "p.1", 0, 0)));
}

// The API server refuses a note that is longer.
TEST_F(EventsTest, ANoteIsNotLongerForWhatIsReplaced) {
  const auto note = [](const std::string& given) {
    return json::parse(BodyOf(About("p", given), "us", "here", "p.1", 0, 0))["note"].get<std::string>();
  };
  const std::string room(1023, 'x');
  EXPECT_EQ(note(room + "\u00e9"), room) << "half a character is left out";
  EXPECT_EQ(note(std::string(1024, '\xff')).size(), 1023u) << "341 replacements of three bytes";
}

TEST_F(EventsTest, TheSameIsToldOnce) {
  server_.Answer(201, "{}");
  server_.Answer(201, "{}");
  const auto events = Start();
  events->Tell(About("p"));
  events->Tell(About("p"));
  events->Tell(About("q"));
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("\"name\":\"q\""));
}

// The same state comes back after another one, and has to be told again.
TEST_F(EventsTest, OneThatIsPacedIsToldAgain) {
  for (int i = 0; i < 3; ++i) server_.Answer(201, "{}");
  const auto events = Start();
  for (const char* note : {"waits", "waits otherwise", "waits"}) {
    Event event = About("p", note);
    event.paced = true;
    events->Tell(event);
  }
  EXPECT_THAT(server_.AwaitRequest(2), HasSubstr("\"note\":\"waits\""));
}

TEST_F(EventsTest, OneThatIsRefusedIsLostAndCounted) { IsLostAt(403); }

TEST_F(EventsTest, SaysForHowManyMoreThereIsRoom) {
  const auto events = Start();
  EXPECT_EQ(events->room(), Events::kMostWaiting);
  // The first event is on its way, or waits like the others.
  for (std::size_t i = 0; i < Events::kMostWaiting; ++i) events->Tell(About("p" + std::to_string(i)));
  EXPECT_LE(events->room(), 1u);
  EXPECT_EQ(events->lost(), 0u);
}

TEST_F(EventsTest, WhatOthersTellTooHasOneNameAndIsToldWhenItIsThere) {
  Event event = About("p");
  event.once_in_cluster = true;
  std::string names[2];
  for (const char* node : {"node-1", "node-2"}) {
    server_.Answer(node == std::string("node-1") ? 201 : 409, "{}");
    Events events(Access{.server = server_.url(), .ca_file = "", .token_file = ""}, "us", node);
    events.Tell(event);
    const std::size_t number = node == std::string("node-1") ? 0 : 1;
    const std::string request = server_.AwaitRequest(number);
    names[number] = json::parse(request.substr(request.find("\r\n\r\n") + 4))["metadata"]["name"];
    EXPECT_EQ(events.lost(), 0u);
  }
  EXPECT_EQ(names[0], names[1]);
}

TEST_F(EventsTest, OneThatIsThereThoughNoOtherTellsItIsLost) { IsLostAt(409); }

TEST_F(EventsTest, AServerThatNeverAnswersDoesNotDelayTheEnd) {
  auto events = Start();
  events->Tell(About("p"));
  server_.AwaitRequest(0);
  const auto begin = std::chrono::steady_clock::now();
  events.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10))
      << "by itself it ends after 30";
}

TEST_F(EventsTest, AServerThatIsBusyIsAskedAgain) {
  server_.Answer(500, "{}");
  server_.Answer(201, "{}");
  const auto events = Start();
  events->Tell(About("p"));
  server_.AwaitRequest(1);
  EXPECT_EQ(events->lost(), 0u);
}

}  // namespace
}  // namespace crossover::kube

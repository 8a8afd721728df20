#include "common/kube/list_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "common/kube/backoff.h"
#include "common/kube/json_filter.h"
#include "common/kube/whole_lists.h"
#include "tests/unit/common/kube/server.h"

namespace crossover::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// A Records keeps what came, as text.
class Records {
 public:
  std::vector<std::string> Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen_.size() >= count; });
    return seen_;
  }

 protected:
  void Put(std::string text) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(std::move(text));
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
};

class Recorder : public Records, public ListWatch::Handler {
 public:
  void OnList(const json& items) override { Put("list " + items.dump()); }
  void OnChange(const json& object) override { Put("change " + object["metadata"]["name"].dump()); }
  void OnDelete(const json& object) override { Put("delete " + object["metadata"]["name"].dump()); }
};

class SinkRecorder : public Records, public ListWatch::Sink {
 public:
  void OnListBegin() override {
    const ListWatch* watch = asked;
    Put(watch == nullptr ? "begin" : watch->synced() ? "begin, synced" : "begin, not synced");
  }
  void OnListed(json&& object) override { Put("listed " + object["metadata"]["name"].get<std::string>()); }
  void OnListEnd() override { Put("end"); }
  void OnChange(const json& object) override {
    Put("change " + object["metadata"]["name"].get<std::string>());
  }
  void OnDelete(const json& object) override {
    Put("delete " + object["metadata"]["name"].get<std::string>());
  }
  std::atomic<const ListWatch*> asked = nullptr;  // is asked at each list's beginning whether it is synced
};

std::string List(const std::string& version, const std::string& items = "") {
  return R"({"metadata":{"resourceVersion":")" + version + R"("},"items":[)" + items + "]}";
}
std::string Event(const std::string& type, const std::string& name, const std::string& version) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"name":")" + name + R"(","resourceVersion":")" +
         version + "\"}}}\n";
}

class ListWatchTest : public ::testing::Test {
 protected:
  std::unique_ptr<ListWatch> Start() {
    ListWatch::Options options;
    options.least_pause = std::chrono::milliseconds(1);
    return std::make_unique<ListWatch>(Access{.server = server_.url(), .ca_file = "", .token_file = ""},
                                       "/api/v1/pods?fieldSelector=x", &whole_, options);
  }

  // Starts a watch that waits for a short time between tries, and that tells its sink objects one by one.
  std::unique_ptr<ListWatch> StartSink(bool streamed = false, bool may_lack = false) {
    ListWatch::Options options;
    options.streamed = streamed;
    options.may_lack = may_lack;
    options.without = {"images"};
    options.least_pause = std::chrono::milliseconds(1);
    options.page = 2;
    return std::make_unique<ListWatch>(Access{.server = server_.url(), .ca_file = "", .token_file = ""},
                                       "/api/v1/nodes", &sink_, options);
  }

  std::unique_ptr<ListWatch> StartFromCache() {
    ListWatch::Options options;
    options.from_cache = true;
    options.least_pause = std::chrono::milliseconds(1);
    options.page = 2;
    return std::make_unique<ListWatch>(Access{.server = server_.url(), .ca_file = "", .token_file = ""},
                                       "/api/v1/pods?fieldSelector=x", &recorder_, options);
  }

  Server server_;
  Recorder recorder_;
  WholeLists whole_{&recorder_};
  SinkRecorder sink_;
};

TEST_F(ListWatchTest, ListsThenGoesOnFromThere) {
  server_.Answer(200, List("7", R"({"a":1})"));
  server_.Answer(200, Event("ADDED", "p", "8") + Event("BOOKMARK", "", "11") + Event("DELETED", "p", "12"));
  const auto watch = Start();
  EXPECT_THAT(recorder_.Await(3), ElementsAre(R"(list [{"a":1}])", "change \"p\"", "delete \"p\""));
  EXPECT_THAT(server_.AwaitRequest(0), HasSubstr("GET /api/v1/pods?fieldSelector=x&limit=40 HTTP"));
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("&watch=1&"));
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("resourceVersion=7 "));
  // The server ended the watch in good order, so there is no new list.
  EXPECT_THAT(server_.AwaitRequest(2), HasSubstr("resourceVersion=12 "));
  EXPECT_TRUE(watch->synced());
}

TEST_F(ListWatchTest, AVersionThatIsTooOldMeansANewList) {
  server_.Answer(200, List("7"));
  server_.Answer(200, R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}})"
                      "\n");
  server_.Answer(200, List("20"));
  server_.Answer(410, "gone");
  server_.Answer(200, List("30"));
  const auto watch = Start();
  EXPECT_EQ(recorder_.Await(3).size(), 3u);
  EXPECT_THAT(server_.AwaitRequest(5), HasSubstr("resourceVersion=30 "));
}

TEST_F(ListWatchTest, TriesAgainUntilTheServerAnswers) {
  server_.Answer(500, "not now");
  server_.Answer(200, "no json");
  server_.Answer(403, "who are you");
  server_.Answer(200, List("7"));
  const auto watch = Start();
  EXPECT_THAT(recorder_.Await(1), ElementsAre("list []"));
}

TEST_F(ListWatchTest, ALineThatIsNoEventEndsTheWatch) {
  server_.Answer(200, List("7"));
  server_.Answer(200, "garbage\n" + Event("ADDED", "p", "8"));
  server_.Answer(200, List("9"));
  const auto watch = Start();
  EXPECT_THAT(recorder_.Await(2), ElementsAre("list []", "list []"));
}

TEST_F(ListWatchTest, StopsInTheMiddleOfAList) {
  auto watch = std::make_unique<ListWatch>(Access{.server = server_.url(), .ca_file = "", .token_file = ""},
                                           "/api/v1/pods", &recorder_);
  server_.AwaitRequest(0);  // which is never answered
  const auto begin = std::chrono::steady_clock::now();
  watch.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10))
      << "by itself it ends after 30";
}

TEST_F(ListWatchTest, StopsInTheMiddleOfAWatch) {
  server_.Answer(200, List("7"));
  auto watch = Start();
  server_.AwaitRequest(1);  // which is never answered
  watch.reset();
}

std::string Item(const std::string& name) { return R"({"metadata":{"name":")" + name + "\"}}"; }
std::string Page(const std::string& version, const std::string& next, const std::string& items) {
  return R"({"metadata":{"resourceVersion":")" + version + R"(","continue":")" + next + R"("},"items":[)" +
         items + "]}";
}
std::string End(const std::string& version) {
  return R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + version +
         "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n";
}
std::string Error(int code) {
  return R"({"type":"ERROR","object":{"kind":"Status","message":"m","code":)" + std::to_string(code) + "}}\n";
}

TEST_F(ListWatchTest, LongListsComeInPages) {
  server_.Answer(200, Page("7", "to/k=en", Item("a") + "," + Item("b")));
  server_.Answer(200, Page("7", "", Item("c")));
  const auto watch = StartSink();
  EXPECT_THAT(server_.AwaitRequest(0), HasSubstr("GET /api/v1/nodes?limit=2 "));
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("?limit=2&continue=to%2Fk%3Den "));
  EXPECT_THAT(server_.AwaitRequest(2), HasSubstr("resourceVersion=7 "));
  EXPECT_THAT(sink_.Await(5), ElementsAre("begin", "listed a", "listed b", "listed c", "end"));
}

TEST_F(ListWatchTest, APageThatIsForgottenMeansANewList) {
  server_.Answer(200, Page("7", "next", Item("a")));
  server_.Answer(410, "expired");
  server_.Answer(200, Page("9", "", Item("b")));
  const auto watch = StartSink();
  EXPECT_THAT(server_.AwaitRequest(3), HasSubstr("resourceVersion=9 "));
  EXPECT_THAT(sink_.Await(5), ElementsAre("begin", "listed a", "begin", "listed b", "end"));
}

TEST_F(ListWatchTest, AWholeListIsToldWhole) {
  server_.Answer(200, Page("7", "next", Item("a")));
  server_.Answer(200, Page("7", "", Item("b")));
  const auto watch = Start();
  EXPECT_THAT(recorder_.Await(1), ElementsAre("list [" + Item("a") + "," + Item("b") + "]"));
}

TEST_F(ListWatchTest, AListOfTheCacheIsWholeAndNeverOlderThanWhatWasSeen) {
  server_.Answer(200, List("7", Item("a")));
  server_.Answer(200, Event("ADDED", "b", "8") + Error(410));
  server_.Answer(200, List("9", Item("b")));
  const auto watch = StartFromCache();
  EXPECT_THAT(server_.AwaitRequest(0), HasSubstr("?fieldSelector=x&resourceVersion=0 "));
  EXPECT_THAT(server_.AwaitRequest(2),
              HasSubstr("?fieldSelector=x&resourceVersion=8&resourceVersionMatch=NotOlderThan "));
  EXPECT_THAT(server_.AwaitRequest(3), HasSubstr("&resourceVersion=9 "));
  EXPECT_THAT(recorder_.Await(3),
              ElementsAre("list [" + Item("a") + "]", "change \"b\"", "list [" + Item("b") + "]"));
}

TEST_F(ListWatchTest, WhatTheCacheCannotIsListedInPagesOnce) {
  for (const int refusal : {400, 410, 504}) {
    Server server;
    server.Answer(200, List("7"));
    server.Answer(200, Error(410));
    server.Answer(refusal, "Too large resource version");
    server.Answer(200, List("5"));
    server.Answer(200, Error(410));
    Recorder recorder;
    const ListWatch watch(
        Access{.server = server.url(), .ca_file = "", .token_file = ""}, "/api/v1/pods", &recorder,
        ListWatch::Options{.from_cache = true, .least_pause = std::chrono::milliseconds(1), .page = 2});
    EXPECT_THAT(server.AwaitRequest(2), HasSubstr("?resourceVersion=7&resourceVersionMatch=NotOlderThan "));
    EXPECT_THAT(server.AwaitRequest(3), HasSubstr("?limit=2 ")) << refusal;
    EXPECT_THAT(server.AwaitRequest(5), HasSubstr("?resourceVersion=5&")) << "as the server began anew";
  }
}

// A list that is longer than an answer may be also breaks off.
TEST_F(ListWatchTest, AListOfTheCacheThatBreaksOffIsListedInPages) {
  server_.Answer({.status = 200, .body = List("7"), .cut = true});
  server_.Answer(200, List("7"));
  const auto watch = StartFromCache();
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("&limit=2 "));
}

// If they listed in pages instead, all daemons at once would read all pods of the cluster, just as it comes
// up.
TEST_F(ListWatchTest, AServerThatIsBusyIsAskedForItsCacheAgain) {
  server_.Answer(503, "not now");
  server_.Answer(200, List("7"));
  const auto watch = StartFromCache();
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("&resourceVersion=0 "));
}

TEST_F(ListWatchTest, AListMayComeAsTheBeginningOfAWatch) {
  server_.Answer({.status = 200, .body = Event("ADDED", "a", "3"), .open = true});
  const auto watch = StartSink(true);
  EXPECT_THAT(server_.AwaitRequest(0),
              HasSubstr("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"));
  EXPECT_THAT(server_.AwaitRequest(0), testing::Not(HasSubstr("resourceVersion=")));
  sink_.Await(2);
  EXPECT_FALSE(watch->synced()) << "there may be more";
  server_.Say(Event("ADDED", "b", "2") + Event("DELETED", "a", "4") + End("5") + Event("ADDED", "c", "6"));
  EXPECT_THAT(sink_.Await(6), ElementsAre("begin", "listed a", "listed b", "delete a", "end", "change c"));
  EXPECT_TRUE(watch->synced());
  EXPECT_EQ(server_.requests(), 1u);
}

TEST_F(ListWatchTest, WhatWasStreamedIsGoneOnWith) {
  server_.Answer(200, Event("ADDED", "a", "3") + End("5") + Event("MODIFIED", "a", "6"));
  const auto watch = StartSink(true);
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("&resourceVersion=6 "));
}

// The watch cannot go on from the part that has come: the rest would be lost.
TEST_F(ListWatchTest, AStreamThatBreaksOffIsBegunAnew) {
  server_.Answer({.status = 200, .body = Event("ADDED", "a", "3"), .cut = true});
  server_.Answer(200, Event("ADDED", "b", "3") + End("5"));
  const auto watch = StartSink(true);
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("sendInitialEvents=true"));
  EXPECT_THAT(sink_.Await(5), ElementsAre("begin", "listed a", "begin", "listed b", "end"));
}

TEST_F(ListWatchTest, IsNotSyncedWhileStreamedListsBreakOff) {
  server_.Answer(200, Event("ADDED", "a", "3") + End("5"));
  server_.Answer({.status = 200, .body = Event("ADDED", "b", "6"), .cut = true});
  const auto watch = StartSink(true);
  server_.AwaitRequest(2);  // which is not answered yet
  EXPECT_TRUE(watch->synced()) << "a watch may break off";
  server_.Answer(200, Error(410));
  server_.Answer({.status = 200, .body = Event("ADDED", "a", "7"), .cut = true});
  server_.AwaitRequest(4);
  EXPECT_FALSE(watch->synced()) << "a list may not: what has gone since is unknown";
  server_.Answer(200, Event("ADDED", "a", "7") + End("8"));
  server_.AwaitRequest(5);
  EXPECT_TRUE(watch->synced());
}

TEST_F(ListWatchTest, AServerThatCannotStreamIsAskedForAList) {
  server_.Answer(422, "sendInitialEvents is forbidden");
  server_.Answer(200, Page("7", "", Item("a")));
  server_.Answer(410, "");
  server_.Answer(200, Page("9", "", Item("a")));
  const auto watch = StartSink(true);
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("?limit=2 "));
  EXPECT_THAT(server_.AwaitRequest(3), HasSubstr("?limit=2 ")) << "and not to stream again";
  EXPECT_EQ(sink_.Await(7)[6], "end");
}

// A server whose etcd is older than 3.4.25 or 3.5.8 says so within the stream.
TEST_F(ListWatchTest, AServerThatSaysSoWithinTheStreamIsAskedForAList) {
  server_.Answer({.status = 200, .body = Error(500)});
  server_.Answer(200, Page("7", "", Item("a")));
  const auto watch = StartSink(true);
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("?limit=2 "));
  EXPECT_THAT(sink_.Await(4), ElementsAre("begin", "begin", "listed a", "end"));
}

TEST_F(ListWatchTest, GoesOnWhereABusyServerOrABrokenWatchLeftIt) {
  server_.Answer(200, List("7"));
  server_.Answer(503, "not now");
  server_.Answer({.status = 200, .body = Event("ADDED", "a", "8"), .cut = true});
  server_.Answer({.status = 200, .body = Error(500)});
  server_.Answer(200, Event("ADDED", "b", "9"));
  const auto watch = StartSink();
  EXPECT_THAT(server_.AwaitRequest(2), HasSubstr("&resourceVersion=7 "));
  EXPECT_THAT(server_.AwaitRequest(3), HasSubstr("&resourceVersion=8 "));
  EXPECT_THAT(server_.AwaitRequest(4), HasSubstr("&resourceVersion=8 "));
  EXPECT_THAT(server_.AwaitRequest(5), HasSubstr("&resourceVersion=9 "));
  EXPECT_THAT(sink_.Await(4), ElementsAre("begin", "end", "change a", "change b"));
}

TEST_F(ListWatchTest, AWatchThatNeverSaysAnythingIsGivenUp) {
  server_.Answer(200, List("7"));
  for (int i = 0; i < 5; ++i) server_.Answer(200, Error(500));
  server_.Answer(200, List("9"));
  const auto watch = StartSink();
  EXPECT_THAT(server_.AwaitRequest(5), HasSubstr("&resourceVersion=7 "));
  EXPECT_THAT(server_.AwaitRequest(6), HasSubstr("?limit=2 "));
}

TEST_F(ListWatchTest, IsNotSyncedWhileTheServerRefuses) {
  server_.Answer(200, List("7"));
  server_.Answer(503, "not now");
  server_.Answer(503, "not now");
  const auto watch = StartSink();
  server_.AwaitRequest(3);  // which is not answered yet
  EXPECT_FALSE(watch->synced());
  server_.Answer({.status = 200, .body = Event("ADDED", "a", "8"), .open = true});
  EXPECT_EQ(sink_.Await(3)[2], "change a");
  EXPECT_TRUE(watch->synced());
}

// If the watch did not wait, the second request would be there at once.
TEST_F(ListWatchTest, LeavesABusyServerAlone) {
  server_.Answer({.status = 429, .body = "", .headers = "Retry-After: 1\r\n"});
  const auto begin = std::chrono::steady_clock::now();
  const auto watch = StartSink();
  server_.AwaitRequest(1);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST_F(ListWatchTest, WhatTheServerDoesNotKnowThereIsNoneOf) {
  server_.Answer(404, "no such resource");
  const auto lacking = StartSink(true, true);
  server_.AwaitRequest(1);
  EXPECT_TRUE(lacking->synced());
  auto seen = sink_.Await(3);
  seen.resize(3);  // it begins to ask again
  EXPECT_THAT(seen, ElementsAre("begin", "begin", "end"));
  server_.Answer(200, Event("ADDED", "a", "3") + End("5"));  // it does now
  EXPECT_EQ(sink_.Await(6)[4], "listed a");
}

TEST_F(ListWatchTest, WhoStillDoesNotKnowThemChangesNothing) {
  server_.Answer(404, "no such resource");
  const auto lacking = StartSink(true, true);
  sink_.Await(3);
  sink_.asked = lacking.get();
  sink_.Await(4);  // a list may have begun before `asked` was set
  for (int i = 0; i < 2; ++i) server_.Answer(404, "no such resource");
  const auto seen = sink_.Await(10);
  EXPECT_GE(std::ranges::count(seen, "begin, synced"), 4);
  EXPECT_EQ(std::ranges::count(seen, "begin, not synced"), 0);
}

TEST_F(ListWatchTest, WhatMustBeThereIsNotMissed) {
  server_.Answer(404, "no such resource");
  const auto watch = StartSink(true, false);
  server_.AwaitRequest(1);
  EXPECT_FALSE(watch->synced());
}

TEST(BackoffTest, WaitsGrowAndAreSpread) {
  using Time = Backoff::Time;
  Backoff backoff(Time(800), Time(30'000));
  EXPECT_EQ(backoff.Next(0), Time(800));
  EXPECT_EQ(backoff.Next(500), Time(2400));
  for (int i = 0; i < 10; ++i) EXPECT_LE(backoff.Next(999), Time(30'000));
  EXPECT_EQ(backoff.Next(0), Time(15'000));
  backoff.Reset();
  EXPECT_EQ(backoff.Next(999), Time(1599));
}

TEST(SlimTest, LeavesOutWhatIsNotRead) {
  constexpr char kItem[] =
      R"({"metadata":{"name":"n","managedFields":[{"a":{"b":1}}],"labels":{"images":"x","managedFields":"y"}},)"
      R"("status":{"images":[{"names":["a"]}],"allocatable":{"images":"1"}}})";
  const json slim = json::parse(
      R"({"metadata":{"name":"n","labels":{"images":"x","managedFields":"y"}},"status":{"allocatable":{"images":"1"}}})");
  const std::string item = kItem;
  EXPECT_EQ(ParseWithout(R"({"type":"ADDED","object":)" + item + "}", {"images"}, kInEvent)["object"], slim);
  EXPECT_EQ(ParseWithout(R"({"items":[)" + item + "," + item + "]}", {"images"}, kInList)["items"],
            json::array({slim, slim}));
  EXPECT_TRUE(ParseWithout("{", {}, kInList).is_discarded());
}

}  // namespace
}  // namespace crossover::kube

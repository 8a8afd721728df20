#include "common/kube/list_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>

#include "tests/unit/common/kube/server.h"

namespace crossover::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// What came, as text.
class Recorder : public ListWatch::Handler {
 public:
  void OnList(const json& items) override { Put("list " + items.dump()); }
  void OnChange(const json& object) override { Put("change " + object["metadata"]["name"].dump()); }
  void OnDelete(const json& object) override { Put("delete " + object["metadata"]["name"].dump()); }

  std::vector<std::string> Await(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen_.size() >= count; });
    return seen_;
  }

 private:
  void Put(std::string text) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(std::move(text));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> seen_;
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
    return std::make_unique<ListWatch>(Access{.server = server_.url(), .ca_file = "", .token_file = ""},
                                       "/api/v1/pods?fieldSelector=x", &recorder_);
  }

  Server server_;
  Recorder recorder_;
};

TEST_F(ListWatchTest, ListsThenGoesOnFromThere) {
  server_.Answer(200, List("7", R"({"a":1})"));
  server_.Answer(200, Event("ADDED", "p", "8") + Event("BOOKMARK", "", "11") + Event("DELETED", "p", "12"));
  const auto watch = Start();
  EXPECT_THAT(recorder_.Await(3), ElementsAre(R"(list [{"a":1}])", "change \"p\"", "delete \"p\""));
  EXPECT_THAT(server_.AwaitRequest(0), HasSubstr("GET /api/v1/pods?fieldSelector=x HTTP"));
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("&watch=1&"));
  EXPECT_THAT(server_.AwaitRequest(1), HasSubstr("resourceVersion=7 "));
  // The server ended the watch in good order: no new list.
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
  auto watch = Start();
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

}  // namespace
}  // namespace crossover::kube

#include "common/kube/list_watch.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/fd.h"

namespace crossover::kube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// Answers each request, in order, with what a test has prepared: a whole answer, after which the connection
// ends.
class Server {
 public:
  Server() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size);
    listen(socket_.get(), 16);
    getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Run(); });
  }
  ~Server() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }

  void Answer(int status, const std::string& body) {
    const std::lock_guard lock(mutex_);
    answers_.push_back("HTTP/1.1 " + std::to_string(status) + " x\r\nConnection: close\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body);
    changed_.notify_all();
  }
  std::string AwaitRequest(std::size_t number) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return requests_.size() > number; });
    return requests_[number];
  }
  const std::string& url() const { return url_; }

 private:
  void Run() {
    for (;;) {
      const base::UniqueFd connection(accept(socket_.get(), nullptr, nullptr));
      if (!connection) return;
      std::string request;
      char buffer[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t size = recv(connection.get(), buffer, sizeof buffer, 0);
        if (size <= 0) break;
        request.append(buffer, static_cast<std::size_t>(size));
      }
      std::unique_lock lock(mutex_);
      requests_.push_back(request);
      changed_.notify_all();
      changed_.wait(lock, [this] { return stop_ || !answers_.empty(); });
      if (stop_) return;
      const std::string answer = answers_.front();
      answers_.pop_front();
      lock.unlock();
      send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    }
  }

  base::UniqueFd socket_;
  std::string url_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> answers_;
  std::vector<std::string> requests_;
  bool stop_ = false;
  std::thread thread_;
};

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

TEST_F(ListWatchTest, StopsInTheMiddleOfAWatch) {
  server_.Answer(200, List("7"));
  auto watch = Start();
  server_.AwaitRequest(1);  // which is never answered
  watch.reset();
}

}  // namespace
}  // namespace crossover::kube

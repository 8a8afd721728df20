#include "extender/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/unit/extender/http/asking.h"

namespace crossover::extender {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace crossover::extender::testing;  // NOLINT(google-build-using-namespace)

// Holds requests until the test answers them.
class Held {
 public:
  HttpServer::Handler handler() {
    return [this](const HttpRequest&, HttpServer::Reply reply) {
      const std::lock_guard lock(mutex_);
      replies_.push_back(std::move(reply));
      came_.notify_all();
    };
  }
  void WaitFor(std::size_t count) {
    std::unique_lock lock(mutex_);
    came_.wait(lock, [&] { return replies_.size() >= count; });
  }
  void Answer(const std::string& body) {
    std::deque<HttpServer::Reply> replies;
    {
      const std::lock_guard lock(mutex_);
      replies.swap(replies_);
    }
    for (const auto& reply : replies) reply({.status = 200, .body = body, .content_type = "text/plain"});
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<HttpServer::Reply> replies_;
};

// A server with three paths: /echo returns the request, /held is answered by the test, and /broken throws.
class Serving {
 public:
  explicit Serving(HttpServer::Settings settings = {}) : port_(FreePort()) {
    settings.port = port_;
    scheme_ = settings.certificate_file.empty() ? "http" : "https";
    server_ = std::make_unique<HttpServer>(
        settings, std::map<std::string, HttpServer::Handler>{
                      {"/echo",
                       [](const HttpRequest& request, const HttpServer::Reply& reply) {
                         reply({.status = 200,
                                .body = request.method + " " + request.path + "?" + request.query + " [" +
                                        request.authorization + "] " + request.body,
                                .content_type = "text/plain"});
                       }},
                      {"/held", held_.handler()},
                      {"/broken", [](const HttpRequest&, const HttpServer::Reply&) {
                         throw std::runtime_error("on purpose");
                       }}});
  }
  std::string Url(const std::string& path) const {
    return scheme_ + "://127.0.0.1:" + std::to_string(port_) + path;
  }
  Reply Get(const std::string& path) const { return Ask({.url = Url(path)}); }
  int port() const { return port_; }
  Held& held() { return held_; }
  void End() { server_.reset(); }

 private:
  const int port_;
  std::string scheme_;
  Held held_;
  std::unique_ptr<HttpServer> server_;
};

TEST(HttpServer, HandlersGetWhatWasAsked) {
  const Serving serving;
  EXPECT_EQ(serving.Get("/echo?a=b").body, "GET /echo?a=b [] ");
  const Reply posted =
      Ask({.url = serving.Url("/echo"), .body = "{}", .headers = {"Authorization: Bearer x"}});
  EXPECT_EQ(posted.status, 200);
  EXPECT_EQ(posted.body, "POST /echo? [Bearer x] {}");
}

TEST(HttpServer, BodiesOfSeveralMegabytesArrive) {
  const Serving serving;
  const std::string body(5u << 20, 'x');
  EXPECT_EQ(Ask({.url = serving.Url("/echo"), .body = body}).body.size(), body.size() + 15);
}

TEST(HttpServer, RefusesWhatItDoesNotKnow) {
  const Serving serving;
  EXPECT_EQ(serving.Get("/nothing").status, 404);
  EXPECT_EQ(serving.Get("/echo/more").status, 404);
  EXPECT_EQ(Ask({.url = serving.Url("/nothing"), .body = std::string(100'000, 'x')}).status, 404);
  for (const char* method : {"DELETE", "PUT", "TRACE", "OPTIONS"}) {
    EXPECT_EQ(Ask({.url = serving.Url("/echo"), .method = method}).status, 405) << method;
  }
}

// The first path exists and the second does not. The third body is too large.
TEST(HttpServer, ABodyThatBreaksOffEndsItsConnection) {
  const Serving serving({.most_bytes = 1000});
  for (const char* request : {"POST /echo HTTP/1.1\r\nContent-Length: 500\r\n\r\nhi",
                              "POST /nothing HTTP/1.1\r\nContent-Length: 500\r\n\r\nhi",
                              "POST /echo HTTP/1.1\r\nContent-Length: 2000\r\n\r\nhi"}) {
    const RawConnection connection(serving.port());
    connection.Say(request);
    EXPECT_THAT(connection.Hear(), ::testing::AllOf(StartsWith("HTTP/1.1 4"), HasSubstr("Connection: close")))
        << request;
  }
}

// The SDK itself answers a path that it cannot decode. Without half_closed.h, some in a hundred of these
// connections stay open forever.
TEST(HttpServer, ABodyThatBreaksOffBehindAPathThatIsNoneEndsItsConnection) {
  const Serving serving;
  for (int i = 0; i < 60; ++i) {
    const RawConnection connection(serving.port());
    connection.Say("POST %no HTTP/1.1\r\nContent-Length: 20\r\n\r\nhello");
    ASSERT_THAT(connection.Hear(), StartsWith("HTTP/1.1 400")) << i;
  }
}

TEST(HttpServer, BodiesUpToTheLimitAreTaken) {
  const Serving serving({.most_bytes = 1000});
  EXPECT_EQ(Ask({.url = serving.Url("/echo"), .body = std::string(1000, 'x')}).status, 200);
  const Reply refused = Ask({.url = serving.Url("/echo"), .body = std::string(1001, 'x')});
  EXPECT_EQ(refused.status, 413);
  EXPECT_THAT(refused.body, HasSubstr("at most 1000 bytes"));
  EXPECT_EQ(Ask({.url = serving.Url("/echo"), .body = std::string(3'000'000, 'x')}).status, 413);
}

TEST(HttpServer, ADyingHandlerIsAnError) {
  const Serving serving;
  EXPECT_EQ(serving.Get("/broken").status, 500);
  EXPECT_EQ(serving.Get("/echo").status, 200);
}

TEST(HttpServer, HoldsManyRequestsWithoutAThreadEach) {
  constexpr int kHeld = 200;
  Serving serving;
  std::vector<std::unique_ptr<RawConnection>> connections;
  ASSERT_EQ(serving.Get("/echo").status, 200);
  const int threads = Threads();
  for (int i = 0; i < kHeld; ++i) {
    connections.push_back(std::make_unique<RawConnection>(serving.port()));
    connections.back()->Say("GET /held HTTP/1.1\r\nConnection: close\r\n\r\n");
  }
  serving.held().WaitFor(kHeld);
  EXPECT_EQ(Threads(), threads);
  EXPECT_EQ(serving.Get("/echo").status, 200) << "others are served meanwhile";
  serving.held().Answer("late");
  for (const auto& connection : connections) {
    const std::string heard = connection->Hear();
    EXPECT_THAT(heard, StartsWith("HTTP/1.1 200 "));
    EXPECT_THAT(heard, HasSubstr("late"));
  }
}

TEST(HttpServer, WhileItDrainsEachAnswerEndsItsConnection) {
  const auto drains = std::make_shared<std::atomic<bool>>(false);
  const Serving serving({.drains = drains});
  const auto heard = [&serving](const std::string& path) {
    const RawConnection connection(serving.port());
    connection.Say("GET " + path + " HTTP/1.1\r\n\r\n");
    return connection.Hear();
  };
  EXPECT_THAT(heard("/echo"),
              ::testing::AllOf(StartsWith("HTTP/1.1 200 "), ::testing::Not(HasSubstr("Connection: close"))));
  *drains = true;
  EXPECT_THAT(heard("/echo"), ::testing::AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("Connection: close")));
  EXPECT_THAT(heard("/nothing"),
              ::testing::AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr("Connection: close")));
}

TEST(HttpServer, WhatIsStillHeldAtTheEndIsTurnedAway) {
  Serving serving;
  const RawConnection connection(serving.port());
  connection.Say("GET /held HTTP/1.1\r\n\r\n");
  serving.held().WaitFor(1);
  serving.End();
  EXPECT_THAT(connection.Hear(), StartsWith("HTTP/1.1 503 "));
  serving.held().Answer("too late");  // has no effect
}

// The HTTP library below believes any length that a client sends: for a chunk of "-2" bytes it would read
// all of memory.
TEST(HttpServer, LengthsThatAreNoneAreRefused) {
  const Serving serving;
  const auto say = [&serving](const std::string& headers_and_body) {
    const RawConnection connection(serving.port());
    connection.Say("POST /echo HTTP/1.1\r\n" + headers_and_body);
    return connection.Hear();
  };
  for (const char* chunk : {"-2", "2", "7fffffff", "ffffffffff", "xyz", ""}) {
    const std::string chunked =
        std::string("Transfer-Encoding: chunked\r\n\r\n") + chunk + "\r\nab\r\n0\r\n\r\n";
    EXPECT_THAT(say(chunked), ::testing::AnyOf(StartsWith("HTTP/1.1 411 "), "")) << chunk;
  }
  for (const char* length : {"-1", "18446744073709551616", "1e3", "2,2", "ab"}) {
    const std::string body = std::string("Content-Length: ") + length + "\r\n\r\nab";
    EXPECT_THAT(say(body), ::testing::AnyOf(StartsWith("HTTP/1.1 400 "), "")) << length;
  }
  EXPECT_EQ(serving.Get("/echo").status, 200);
}

TEST(HttpServer, SlowAndSenselessClientsDoNotStopOthers) {
  const Serving serving;
  std::vector<std::unique_ptr<RawConnection>> connections;
  for (const std::string bytes :
       {"", "GET", "GET /echo HTTP/1.1\r\nHost:", "\0\1\2\3", "\r\n\r\n\r\n",
        "POST /echo HTTP/1.1\r\nContent-Length: 100\r\n\r\nhalf", "\x16\x03\x01\x02",
        "GET %zz HTTP/1.1\r\n\r\n", "GET /%zz HTTP/1.1\r\n\r\n", "GET /\xff HTTP/9.9\r\n\r\n"}) {
    for (int i = 0; i < 20; ++i) {
      connections.push_back(std::make_unique<RawConnection>(serving.port()));
      connections.back()->Say(bytes);
    }
  }
  EXPECT_EQ(serving.Get("/echo").status, 200);
  connections.clear();
  EXPECT_EQ(serving.Get("/echo").status, 200);
}

TEST(HttpServer, APortThatIsTakenIsNamed) {
  const Serving serving;
  const TakenPort taken;
  try {
    const HttpServer second({.port = taken.port()}, {});
    FAIL() << "another process listens there";
  } catch (const std::runtime_error& fault) {
    EXPECT_THAT(fault.what(), HasSubstr("127.0.0.1:" + std::to_string(taken.port())));
  }
  EXPECT_EQ(serving.Get("/echo").status, 200);
}

// The servers start one right after the other, as at the start of a program.
TEST(HttpServer, HoweverFastOthersComeAndGoAReaderIsServed) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::unique_ptr<Serving>> servers(10);
    for (auto& serving : servers) serving = std::make_unique<Serving>();
    ASSERT_EQ(servers.back()->Get("/echo").status, 200) << round;
    servers.clear();
    for (int again = 0; again < 10; ++again) const Serving passing;
  }
}

TEST(HttpServer, SeveralServeAtOnce) {
  const Serving first;
  {
    const Serving second;
    EXPECT_EQ(second.Get("/echo").status, 200);
  }
  EXPECT_EQ(first.Get("/echo").status, 200);
}

}  // namespace
}  // namespace crossover::extender
